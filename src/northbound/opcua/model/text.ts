/** A text for people, in the languages of the server. */
export interface Text {
  readonly en: string;
  readonly de: string;
}

/** What a node is for people: its name in German, and what it is. In English its name is its BrowseName. */
export interface NamedText extends Text {
  readonly german: string;
}
