import { z } from 'zod';
import { roleName } from '#kernel/base/events/fields.ts';

/** An identity provider with whose accounts people sign in here. */
export type Upstream = z.output<typeof Upstream>;
export type AccountRule = Upstream['accounts'][number];

const UPSTREAMS_MAX = 20;
const TEXT_MAX = 500;
const text = z.string().trim().min(1).max(TEXT_MAX);

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** An address whose answers decide who signs in: only this machine may do without TLS. */
const trusted = z
  .string()
  .max(TEXT_MAX)
  .refine(
    (url) =>
      URL.canParse(url) &&
      (new URL(url).protocol === 'https:' ||
        (new URL(url).protocol === 'http:' && LOOPBACK.test(new URL(url).hostname))) &&
      new URL(url).search === '' &&
      new URL(url).hash === '',
  );

const DOMAIN = /^(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/;

/** People who match get an account with the role at their first sign-in. */
const AccountRule = z
  .strictObject({
    role: roleName.refine((role) => role !== 'admin'),
    /** Of the confirmed e-mail address. */
    domains: z.array(z.string().toLowerCase().regex(DOMAIN)).min(1).max(100).or(z.literal('any')).optional(),
    claim: z.strictObject({ name: text, value: text }).optional(),
  })
  .refine(({ domains, claim }) => domains !== undefined || claim !== undefined);

const common = {
  name: z.string().regex(/^[a-z][a-z0-9-]{0,29}$/),
  label: text.regex(/^\P{Cc}*$/u).optional(),
  clientId: text,
  clientSecret: text,
  email: z.enum(['verified', 'trusted', 'ignored']).default('verified'),
  linkByEmail: z.boolean().default(false),
  accounts: z.array(AccountRule).max(50).default([]),
};

const Upstream = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('openid'),
      issuer: trusted,
      scopes: z.array(text).max(20).default(['openid', 'email', 'profile']),
      ...common,
    }),
    z.strictObject({
      kind: z.literal('github'),
      issuer: trusted.default('https://github.com'),
      api: trusted.default('https://api.github.com'),
      ...common,
    }),
  ])
  .transform((upstream) => ({ ...upstream, label: upstream.label ?? upstream.name }));

const json = z.string().transform((given, context): unknown => {
  try {
    return JSON.parse(given);
  } catch {
    context.addIssue('no JSON');
    return z.NEVER;
  }
});

/** Without a `kind`, an entry is OpenID Connect. */
const withKind = z.preprocess(
  (entry) => (typeof entry === 'object' && entry !== null ? { kind: 'openid', ...entry } : entry),
  Upstream,
);

export const upstreams = json.pipe(
  z
    .array(withKind)
    .max(UPSTREAMS_MAX)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
      error: 'two have the same name',
    }),
);
