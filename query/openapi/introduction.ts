import { capital, spaced } from '#kernel/registry/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';

/** What holds for all operations, in Markdown. */
export const conventionsOf = (domain: Domain): string =>
  `
${capital(new Intl.ListFormat('en-GB').format(Object.values(domain.kinds).map(({ plural }) => spaced(plural))))} as resources with links. All of it is also under \`/api\`.

**Rights.** Public things can be read without a token. Everything else needs an access token with the scope that the operation names,
and depends on who the user is: what you may not see is absent (404). \`_links\` says what you may do next with an item.

**Versions.** Every item has an \`ETag\`. Send it as \`If-Match\` with a change, and nothing is lost when two people change the same item;
send it as \`If-None-Match\` with a read, and you are not sent what you have.

**Reading your own writes.** Every write answers with a \`Consistency-Token\`. Send it back with a read, and the read sees the write.

**Repeating.** Send an \`Idempotency-Key\` with a write, and you can send it again without its being carried out twice.

**Lists** come in pages: follow the \`Link\` with \`rel="next"\` until there is none. Ask for \`application/hal+json\` to have the links in
the body.

**What was.** Read an item or a list \`at\` a time, a cursor or a version, and you are told how it was; \`As-Of\` in the answer is the place of the log that it
stands for. The history of an item tells who changed what.

**Problems** are \`application/problem+json\` (RFC 9457) with a stable \`code\`.
`.trim();
