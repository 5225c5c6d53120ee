/** In the reader's words why a name cannot be taken, or undefined where it can. */
export const whyNoProject = (name: string): string | undefined =>
  /^[a-z0-9][a-z0-9._-]{0,100}$/.test(name) && name !== 'node_modules'
    ? undefined
    : `${JSON.stringify(name)} cannot be the name of a project: take small letters, digits and dashes, such as my-app.`;

/** Of the kernel, and of roles in paths. */
const TAKEN = new Set(['user', 'client', 'webhook', 'base', 'domain']);

export const whyNoAggregate = (name: string): string | undefined => {
  if (TAKEN.has(name)) return `${name} is taken: call the aggregate by another name.`;
  if (/^[a-z][a-zA-Z0-9]{0,39}$/.test(name)) return undefined;
  return `${JSON.stringify(name)} cannot be the name of an aggregate: take one word that begins with a small letter, such as invoice or travelClaim.`;
};
