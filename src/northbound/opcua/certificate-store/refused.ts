/** Why certificates cannot be moved, or why the choice is not clear, as a sentence. */
export class CertificateRefused extends Error {
  override readonly name = "CertificateRefused";
  /** The text is no thumbprint at all. */
  readonly isMalformed: boolean;

  constructor(message: string, isMalformed = false) {
    super(message);
    this.isMalformed = isMalformed;
  }
}
