import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { buildSchema, execute, parse, validate } from 'graphql';

/**
 * A small third-party GraphQL service, run as a process of its own: PORT is its port, TYPE_NAME the name of
 * its product type.
 */

const { PORT = '0', TYPE_NAME = 'Product' } = process.env;

const schema = buildSchema(`
  "How good."
  enum Grade { GOOD BAD }
  interface Thing { id: ID! }
  type Review implements Thing { id: ID! stars: Int! text: String grade: Grade! about: ${TYPE_NAME}! failing: String }
  type ${TYPE_NAME} implements Thing { id: ID! name: String! reviews: [Review!]! }
  union Found = Review | ${TYPE_NAME}
  input ReviewInput { stars: Int! grade: Grade = GOOD }
  type Query {
    review(id: ID!): Review
    reviews(limit: Int = 10): [Review!]!
    search(text: String!): [Found!]!
    thing(id: ID!): Thing
    headers: [String!]!
    slow: String
    soldOut: String
    operations: Int!
    _service: String
  }
  type Mutation { addReview(input: ReviewInput!): Review! }
  type Subscription { reviewAdded: Review! }
`);

const product = { __typename: TYPE_NAME, id: 'p1', name: 'Engine', reviews: () => Object.values(reviews) };
const review = (id: string, stars: number, grade = 'GOOD') => ({
  ...{ __typename: 'Review', id, stars, grade, about: product, text: null },
  failing: () => {
    throw new Error('no text today');
  },
});
const reviews: Record<string, ReturnType<typeof review>> = {
  r1: review('r1', 5),
  r2: review('r2', 1, 'BAD'),
};
let operations = 0;

const rootFor = (headers: IncomingHttpHeaders) => ({
  review: ({ id }: { id: string }) => reviews[id],
  reviews: ({ limit }: { limit: number }) => Object.values(reviews).slice(0, limit),
  search: () => [reviews.r1, product],
  thing: ({ id }: { id: string }) => (id === 'p1' ? product : reviews[id]),
  headers: () => Object.keys(headers),
  slow: () => new Promise<string>(() => {}),
  operations: () => operations,
  addReview({ input }: { input: { stars: number; grade: string } }) {
    const made = review(`r${Object.keys(reviews).length + 1}`, input.stars, input.grade);
    reviews[made.id] = made;
    return made;
  },
});

const server = createServer(async (request, response) => {
  const { query, variables } = (await json(request)) as {
    query: string;
    variables?: Record<string, unknown>;
  };
  operations += 1;
  const document = parse(query);
  const errors = validate(schema, document);
  const rootValue = rootFor(request.headers);
  const refused = query.includes('soldOut') && {
    data: null,
    errors: [{ message: 'Sold out.' }, { message: 'Closed.' }],
  };
  if (refused)
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(refused));
  const answer =
    errors.length > 0
      ? { errors }
      : await execute({ schema, document, rootValue, ...(variables && { variableValues: variables }) });
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}).listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ msg: 'ready', url: `http://127.0.0.1:${port}/graphql` })}\n`);
});
