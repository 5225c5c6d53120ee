/** The first two are for everybody. */
export const PAGES = [
  '/',
  '/docs',
  '/sign-up',
  '/sign-in/x',
  '/device',
  '/sign-out',
  '/sign-out/success',
  '/authorize?client_id=nobody',
  '/account/reset',
  '/account/invited',
  '/account/erased',
  '/account/signed-in?error=x',
];

/** Private answers, which shared caches must not store. */
export const PERSONAL: readonly (readonly [method: string, path: string, body: object | undefined])[] = [
  ['GET', '/me', undefined],
  ['GET', '/articles', undefined],
  ['GET', '/users', undefined],
  ['GET', '/events?limit=1', undefined],
  ['GET', '/webhooks', undefined],
  ['GET', '/clients', undefined],
  ['GET', '/graphql?query=%7Bme%7Bid%7D%7D', undefined],
  ['POST', '/graphql', { query: '{ me { id } }' }],
  ['POST', '/articles', { title: 'T', body: '', tags: [] }],
];

/** Requests that a page of another origin may want to send. */
export const READ_BY_PAGES: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/articles'],
  ['GET', '/me'],
  ['POST', '/graphql'],
  ['POST', '/articles'],
  ['OPTIONS', '/graphql'],
  ['OPTIONS', '/articles'],
  ['GET', '/clients'],
  ['GET', '/sign-up'],
  ['GET', '/webhooks/1/deliveries'],
];

/** Ways to explore the GraphQL schema, and the answers. */
export const SCHEMA_QUESTIONS: readonly (readonly [query: string, code: string])[] = [
  ['{ __schema { types { name } } }', 'introspection_off'],
  ['{ a: __schema { queryType { name } } }', 'introspection_off'],
  ['query { ...A } fragment A on Query { __type(name: "User") { name } }', 'introspection_off'],
  ['{ _service { sdl } }', 'introspection_off'],
  ['{ userz { id } }', 'invalid_document'],
  ['{ users { nam } }', 'invalid_document'],
  ['{ users(limt: 1) { id } }', 'invalid_document'],
  ['{ posts(filter: { stats: draft }) { id } }', 'invalid_document'],
  ['{ posts(filter: { status: publishd }) { id } }', 'invalid_document'],
  ['{ users { ... on Usr { id } } }', 'invalid_document'],
  ['query ($a: UserInpt) { users { id } }', 'invalid_document'],
  ['{ users { id @skp(if: true) } }', 'invalid_document'],
];
