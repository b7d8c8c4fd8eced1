/** A text for people, in the languages of the server. */
export interface Text {
  readonly en: string;
  readonly de: string;
}

/** A node for people: its name in German, and a description. In English its name is its BrowseName. */
export interface NamedText extends Text {
  readonly german: string;
}
