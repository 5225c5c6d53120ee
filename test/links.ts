/** The address of a relation in a `Link` header. */
export const linkIn = (headers: Headers, relation = 'next'): string | undefined =>
  new RegExp(`<([^>]+)>; rel="${relation}"`).exec(headers.get('link') ?? '')?.[1];
