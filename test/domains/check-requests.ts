import type { Row } from '#kernel/registry/registry.ts';
import type { Checks } from '../../testing/describe-domain/checks.ts';
import type { Stage } from '../../testing/describe-domain/stage.ts';
import { type Schema, valueFrom } from './from-schema.ts';

const TIMES = 2;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

type Described = {
  readonly parameters?: readonly Schema[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Schema>>;
  };
};

/** No request that fits `/openapi.json` fails on our side, whoever sends it. */
export const checkRequests = async (stage: Stage, checks: Checks): Promise<void> => {
  const { body } = await stage.ask('GET', '/openapi.json');
  const document = body as Document;
  const ids: Record<string, number[]> = {};
  for (const situation of stage.found.situations.slice(0, SITUATIONS_MAX)) {
    const { id } = await stage.make(situation);
    const name = `${situation.kind.name}Id`;
    ids[name] = [...(ids[name] ?? []), id];
  }
  const kinds = new Set(
    [...Object.values(stage.domain.kinds), ...stage.domain.views]
      .map(({ path }) => path)
      .filter((path) => path !== 'users'),
  );
  for (const [path, operations] of Object.entries(document.paths)) {
    if (!kinds.has(path.split('/')[1] ?? '')) continue;
    for (const method of METHODS)
      if (operations[method] !== undefined)
        for (let time = 0; time < TIMES; time += 1)
          await sendOne({ stage, checks, document, ids }, { path, method, described: operations[method] });
  }
};
const SITUATIONS_MAX = 6;

type Sending = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly document: Document;
  readonly ids: Readonly<Record<string, readonly number[]>>;
};
type Asked = { readonly path: string; readonly method: string; readonly described: Described };

const sendOne = async (
  { stage, checks, document, ids }: Sending,
  { path, method, described }: Asked,
): Promise<void> => {
  const { random } = stage;
  const { schemas, parameters = {} } = document.components;
  const drawing = { random, schemas, ids: Object.values(ids).flat() };
  const query = new URLSearchParams();
  const inPath: Record<string, unknown> = {};
  for (const given of described.parameters ?? []) {
    const parameter = typeof given.$ref === 'string' ? parameters[given.$ref.split('/').at(-1) ?? ''] : given;
    if (parameter === undefined) continue;
    const name = String(parameter.name);
    const value = () => String(valueFrom((parameter.schema ?? {}) as Schema, drawing));
    if (parameter.in === 'path') inPath[name] = random.pick([...(ids[name] ?? []), value()]);
    if (parameter.in === 'query' && random.chance(40)) query.set(name, value());
  }
  const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(inPath[name] ?? 1)),
  );
  const actor = random.pick(stage.actors);
  const contents = Object.entries(described.requestBody?.content ?? {}).filter(([type]) =>
    type.includes('json'),
  );
  const [type, content] = contents.length === 0 ? [] : random.pick(contents);
  const body = content && valueFrom(content.schema, drawing);
  const asked = query.size === 0 ? at : `${at}?${query}`;
  const reply = await stage.ask(method.toUpperCase(), asked, {
    token: actor.token,
    ...(body !== undefined && type !== undefined && { body: JSON.stringify(body), type }),
  });
  const what = `${method.toUpperCase()} ${asked} by ${actor.key} with ${JSON.stringify(body)}`;
  const { code } = (reply.body ?? {}) as Row;
  // Waiting for a cursor of the future ends with 503.
  const isOurs = reply.status >= 500 && reply.status !== 503;
  checks.equal({ isOurs, code }, { isOurs: false, code }, what);
};
