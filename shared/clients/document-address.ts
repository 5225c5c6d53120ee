const ADDRESS = /^https:\/\/[a-z0-9.-]+(?::\d+)?\/[\w.~/-]+$/;

/** Whether the id of a client is the address of a document: no other id is an address. */
export const isAddress = (id: string): boolean => ADDRESS.test(id);

/** With the id of another client beside it, the name of an agent in events has 200 characters at most. */
const ADDRESS_CHARACTERS_MAX = 128;

/** Only one spelling of each address, without anything that a parser changes. */
export const isExactAddress = (id: string): boolean =>
  id.length <= ADDRESS_CHARACTERS_MAX && isAddress(id) && URL.parse(id)?.href === id;
