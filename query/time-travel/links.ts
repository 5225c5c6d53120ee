import type { Cursor } from '#kernel/base/cursor.ts';
import { kebab } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { servedKindsOf } from '#kernel/webhook/managed-kinds.ts';

type Links = Readonly<Record<string, Link>>;

/**
 * Links that exist for former states; the deliveries of a webhook, for example, have only a current state.
 */
const keptOf = oncePer((domain: Domain): RegExp => {
  const kinds = Object.values(domain.kinds);
  const paths = kinds.map(({ path }) => path);
  const lists = kinds.flatMap((kind) =>
    Object.keys(kind.lists).map((list) => `${kind.path}/\\d+/${kebab(list)}(?:/[^/?]+)?`),
  );
  const listed = servedKindsOf(domain)
    .map(({ path }) => path)
    .join('|');
  return new RegExp(
    `^/(?:(?:${listed})/\\d+(?:/(?:${paths.join('|')}))?${lists.map((each) => `|${each}`).join('')})$`,
  );
});

/**
 * The links of an aggregate in the past: to its neighbours at the same time, and to its current state. They
 * offer no actions.
 */
export const pastLinks = (
  domain: Domain,
  links: Links,
  { at, latest }: { readonly at: Cursor; readonly latest: string | undefined },
): Links => ({
  ...Object.fromEntries(
    Object.entries(links)
      .filter(([, { href, method }]) => method === undefined && keptOf(domain).test(href))
      .map(([rel, { href }]) => [rel, { href: `${href}?at=${at}` }]),
  ),
  ...(latest !== undefined && { latest: { href: latest } }),
});
