type Kind = { readonly name: string; readonly path: string };

/** What has a history here, as the page was told by the server. */
export const kinds = (): readonly Kind[] =>
  (JSON.parse(document.body.dataset.kinds ?? '[]') as readonly (readonly [string, string])[]).map(
    ([name, path]) => ({ name, path }),
  );

/** As people read it: `lineItem` is “line item”. */
export const spoken = ({ name }: Kind): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** As events name an item of a kind. */
export const exampleOf = (kind: Kind | undefined): string => `${kind?.name ?? 'user'}-8001`;
