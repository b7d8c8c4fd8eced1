import type { FastifyInstance } from "fastify";
import { holderName } from "../../domain/hold.ts";
import { messageOf } from "../../platform/error-text.ts";
import type { Recorder } from "../../platform/recorder/recorder.ts";
import { sendProblem } from "./problem.ts";
import { senderOfSocket } from "./sender.ts";

export interface RecordingRouteParts {
  /** Null: it is switched off. */
  readonly recorder: Pick<Recorder, "save"> | null;
}

/**
 * `POST /api/v1/recordings` saves the last minutes: 201 with the file, 404 while the recorder is off, 503 if
 * the disk takes no file. It needs no right: every user who reaches the socket may read the data folder.
 */
export function addRecordingRoute(server: FastifyInstance, { recorder }: RecordingRouteParts): void {
  server.post("/api/v1/recordings", async (request, reply) => {
    const [source, wrongSender] = senderOfSocket(request);
    if (wrongSender !== null) return sendProblem(reply, 400, wrongSender);
    if (recorder === null) return sendProblem(reply, 404, "recorder.enabled is false: nothing is recorded");
    try {
      const { path, bytes, fromMs } = await recorder.save(`asked by ${holderName(source)}`);
      return reply.code(201).send({ path, bytes, from: new Date(fromMs).toISOString() });
    } catch (error) {
      return sendProblem(reply, 503, `the recording was not saved: ${messageOf(error)}`);
    }
  });
}
