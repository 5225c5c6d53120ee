const ADDRESS = /^https:\/\/[a-z0-9.-]+(?::\d+)?\/[\w.~/-]+$/;

/** Whether the id of a client is the address of a document: no other id is an address. */
export const isAddress = (id: string): boolean => ADDRESS.test(id);
