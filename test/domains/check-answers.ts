import type { Kind, Row } from '#kernel/registry/registry.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import type { Checks } from '../../testing/describe-domain/checks.ts';
import type { Actor, Made, Stage } from '../../testing/describe-domain/stage.ts';

type Seen = { readonly status: number; readonly body: Row };

/**
 * An answer fits its description, and is the same from the item, the list, and the past that is now;
 * for everybody, of everything.
 */
export const checkAnswers = async (stage: Stage, checks: Checks, made: Made): Promise<void> => {
  for (const actor of stage.actors) {
    const item = await stage.read(made.path, actor);
    await checkShape({ stage, checks, actor }, made.situation.kind, item);
    await checkPast({ stage, checks, actor }, made, item);
    await checkListed({ stage, checks, actor }, made, item);
  }
};

type Asking = { readonly stage: Stage; readonly checks: Checks; readonly actor: Actor };

const schemasOf = (stage: Stage, kind: Kind) => {
  const { get } = Object.fromEntries(
    Object.values(operationsOf(stage.domain)).flatMap((operation) =>
      operation.method === 'GET' && operation.path === `/${kind.path}/{${kind.name}Id}`
        ? [['get', operation.answer.schema] as const]
        : [],
    ),
  );
  return get;
};

const checkShape = async ({ stage, checks, actor }: Asking, kind: Kind, { status, body }: Seen) => {
  checks.equal(status < 500, true, `${actor.key} reads ${kind.name}: ${status}`);
  if (status !== 200) return;
  const parsed = schemasOf(stage, kind)?.safeParse(body);
  checks.equal(
    parsed?.success,
    true,
    `${actor.key} reads ${kind.name} as described: ${JSON.stringify(parsed?.error?.issues)} ${JSON.stringify(body)}`,
  );
};

/** Links lead to requests, and a former state has none. */
const withoutLinks = ({ _links: _, ...content }: Row): Row => content;

const checkPast = async ({ stage, checks, actor }: Asking, { path, version }: Made, now: Seen) => {
  const { status, body } = await stage.read(`${path}?at=v${version}`, actor);
  checks.equal(status, now.status, `${actor.key} reads ${path} at its latest version`);
  if (status === 200)
    checks.equal(
      withoutLinks(body),
      withoutLinks(now.body),
      `${path} at its latest version for ${actor.key}`,
    );
};

const checkListed = async ({ stage, checks, actor }: Asking, { situation, path, id }: Made, item: Seen) => {
  const { kind } = situation;
  const { status, body } = await stage.read<readonly Row[]>(`/${kind.path}?limit=100`, actor);
  if (kind.parent !== undefined || status !== 200) return;
  const listed = body.find((each) => each.id === id);
  if (listed === undefined && body.length === 100) return;
  checks.equal(listed !== undefined, item.status === 200, `${actor.key} finds ${path} in its list`);
  if (listed === undefined) return;
  const shown = withoutLinks(item.body);
  const common = Object.fromEntries(Object.keys(listed).map((name) => [name, shown[name]]));
  checks.equal(withoutLinks(listed), withoutLinks(common), `${path} in its list for ${actor.key}`);
};
