/** A text for people, in the languages of the server. */
export interface Text {
  readonly en: string;
  readonly de: string;
}
