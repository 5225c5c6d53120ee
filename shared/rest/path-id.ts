/** The id in a path, or nothing: what is no id is the id of nothing. */
export const pathId = (text: string): number | undefined => {
  const id = ID.test(text) ? Number(text) : 0;
  return id > 0 && Number.isSafeInteger(id) ? id : undefined;
};

/** One way to write each, so that one item has one URL. */
const ID = /^[1-9]\d{0,15}$/;
