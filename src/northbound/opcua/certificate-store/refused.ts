/** Why certificates cannot be moved, or which one is meant is not clear, as a sentence. */
export class CertificateRefused extends Error {
  override readonly name = "CertificateRefused";
  /** What was asked for is no thumbprint at all. */
  readonly isMalformed: boolean;

  constructor(message: string, isMalformed = false) {
    super(message);
    this.isMalformed = isMalformed;
  }
}
