import type { Cursor } from '#shared/cursor.ts';
import type { Link } from '#shared/rest/fields.ts';

type Links = Readonly<Record<string, Link>>;

/** What can be read as of then; the deliveries of a webhook, say, are told as they are. */
const KEPT = /^\/(?:users|articles|comments|webhooks)\/\d+(?:\/(?:articles|comments))?$/;

/** The links of something as it was: to what there was beside it at the same moment, and to what it is now; nothing can be done with it. */
export const linksThen = (links: Links, at: Cursor, latest: string | undefined): Links => ({
  ...Object.fromEntries(
    Object.entries(links)
      .filter(([, { href, method }]) => method === undefined && KEPT.test(href))
      .map(([rel, { href }]) => [rel, { href: `${href}?at=${at}` }]),
  ),
  ...(latest !== undefined && { latest: { href: latest } }),
});
