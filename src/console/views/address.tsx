import { Fragment } from "preact";
import "../style/address.css";

/** After a slash or a colon; in the id of an OPC UA node after a folder. */
const afterPart = /(?<=[/:])(?!\/)/;
const afterFolder = /(?<=[;.])/;

/** An address: a line may end after a part of it. A part that is longer than a line ends with an ellipsis. */
export function Address({ text }: { readonly text: string }) {
  const parts = text.split(/^ns=\d+;/.test(text) ? afterFolder : afterPart);
  return (
    <span class="parts" title={text}>
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          <span>{part}</span>
        </Fragment>
      ))}
    </span>
  );
}

/** A word with a scheme or a path, or a host with its port. */
const address = /(\S*(?:\/|[a-z.\]]\S*:\d)\S*)/i;

/** A sentence that may have addresses. It is one element: of a card, each child would be a cell. */
export function WithAddresses({ text }: { readonly text: string }) {
  // A card leaves out a cell that is empty.
  if (text === "") return null;
  return (
    <span>
      {text.split(address).map((each, at) => (at % 2 === 1 ? <Address key={at} text={each} /> : each))}
    </span>
  );
}
