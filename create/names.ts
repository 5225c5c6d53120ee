/** Explains to a user why a name is not allowed; undefined if it is. */
export const whyNoProject = (name: string): string | undefined =>
  /^[a-z0-9][a-z0-9._-]{0,100}$/.test(name) && name !== 'node_modules'
    ? undefined
    : `${JSON.stringify(name)} cannot be the name of a project: use lower-case letters, digits and dashes, such as my-app.`;

/** The name of a project in a folder that was not named for one, such as `My App`. */
export const nameFrom = (folder: string): string =>
  folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|[._-]+$/g, '')
    .slice(0, NAME_MAX) || 'my-app';
const NAME_MAX = 100;

/** The kernel refuses names that it uses itself. */
export const whyNoAggregate = (name: string, wordsOfTemplate: ReadonlySet<string>): string | undefined => {
  if (!/^[a-z][a-zA-Z0-9]{0,39}$/.test(name))
    return `${JSON.stringify(name)} cannot be the name of an aggregate: use one word that begins with a lower-case letter, such as invoice or travelClaim.`;
  if (wordsOfTemplate.has(name) || !isIdentifier(name))
    return `${name} is a reserved word of the declaration: give the aggregate another name.`;
  return undefined;
};

/** The name of a second aggregate, as an example. */
export const anotherThan = (aggregate: string): string => (aggregate === 'invoice' ? 'payment' : 'invoice');

const isIdentifier = (name: string): boolean => {
  try {
    // In the strictest context of a module.
    new Function(`'use strict'; return async () => { const ${name} = 0; };`);
    return true;
  } catch {
    return false;
  }
};
