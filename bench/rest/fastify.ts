import fastify from 'fastify';
import { openByHand } from './by-hand.ts';

// Fastify with statements by hand, and with schemas, from which it compiles parsers of parameters and bodies
// and serialisers of answers.
const database = openByHand(String(process.argv[2]));

const [text, number, time] = [
  { type: 'string' },
  { type: 'integer' },
  { type: 'string', format: 'date-time' },
] as const;
const object = (properties: object) => ({ type: 'object', properties });
const link = object({ href: text });
const nullable = (type: object) => ({ ...type, nullable: true });

const ARTICLE = object({
  ...{ id: number, title: text, body: text, tags: { type: 'array', items: text }, status: text },
  author: object({ id: number, name: text }),
  ...{ cover: nullable(text), createdAt: time, updatedAt: time, publishedAt: nullable(time) },
  _links: object({ self: link, author: link, comments: link }),
});
const NEW = object({ title: text, body: text, tags: { type: 'array', items: text } });
const CREATED = object({ id: number, version: number, _links: object({ self: link }) });

const app = fastify();
const limited = {
  querystring: object({ limit: { ...number, default: 20 } }),
  response: { 200: { type: 'array', items: ARTICLE } },
};
app.get<{ Querystring: { limit: number } }>('/articles', { schema: limited }, ({ query }) =>
  database.list(query.limit),
);
app.get<{ Params: { id: string } }>(
  '/articles/:id',
  { schema: { response: { 200: ARTICLE } } },
  async ({ params }, reply) => {
    const item = await database.item(params.id);
    return item ?? reply.code(404).send();
  },
);
app.post<{ Body: { title: string; body: string; tags: string[] } }>(
  '/articles',
  { schema: { body: NEW, response: { 201: CREATED } } },
  async ({ body }, reply) => {
    const id = await database.insert(body);
    const self = `/articles/${id}`;
    return reply
      .code(201)
      .header('location', self)
      .send({ id, version: 1, _links: { self: { href: self } } });
  },
);
process.send?.({ url: await app.listen({ port: 0, host: '127.0.0.1' }) });
