type Kind = { readonly name: string; readonly path: string };

/** The kinds with a history, which the server puts into the page. */
export const kinds = (): readonly Kind[] =>
  (JSON.parse(document.body.dataset.kinds ?? '[]') as readonly (readonly [string, string])[]).map(
    ([name, path]) => ({ name, path }),
  );

/** The name in words: `lineItem` is “line item”. */
export const spoken = ({ name }: Kind): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** An example of a subject, as events name it. */
export const exampleOf = (kind: Kind | undefined): string => `${kind?.name ?? 'user'}-8001`;
