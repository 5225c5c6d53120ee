// Over 200 lines, because it is one declaration: that of users, whom every domain has.
import { AUDITOR, AUDITOR_UNTIL } from '../base/auditor.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { Aggregate, Declaration, Versions } from './aggregate.ts';
import type { Condition } from './conditions.ts';
import { declareFor, declareUntyped } from './declare.ts';
import { type Choice, choice, type Described, date, email, type Field, type Fields, line } from './fields.ts';
import { viewFor } from './view.ts';

type UserFields<Role extends string> = {
  readonly name: Field<string>;
  readonly email: Field<string | null>;
  readonly role: Choice<Role | 'admin'>;
};
/** The fields of the users of a domain with auditors. */
type WithLastDay<F extends Fields, Auditors> = Auditors extends true
  ? F & { readonly [AUDITOR_UNTIL]: Field<string | null> }
  : F;
type AuditorRole<Auditors> = Auditors extends true ? typeof AUDITOR : never;
type UserEvent = { readonly changes: readonly string[] };
type UserEvents = { readonly [Name in 'registered' | 'updated' | 'deleted']: UserEvent };
/** Clients are typed by the rights to read users; rights that authors add are typed with them. */
type UserGuards = {
  readonly readPrivate: { readonly reads: readonly ['email', 'role', 'createdAt', 'updatedAt'] };
};
/** Conditions on a user: the caller itself, a role, and the values of fields. */
type UserCondition<Role extends string, F extends Fields> = Condition<
  'caller' | Role | 'admin',
  UserFields<Role> & F,
  unknown
>;
type UserRights<Role extends string, F extends Fields> = Declaration<
  Role,
  UserFields<Role> & F,
  unknown,
  unknown,
  unknown,
  unknown,
  undefined,
  undefined,
  UserCondition<Role, F>
>;
type UserReading<Role extends string, F extends Fields> = Omit<UserRights<Role, F>['rights']['read'], 'as'>;
/** True if everybody may read every user, so that a name is never hidden. */
type IsPublic<Reading> = Reading extends { readonly anyone: true }
  ? [Exclude<Reading[keyof Reading], true | string>] extends [never]
    ? true
    : false
  : false;
export type User<Role extends string, F extends Fields, Guards = unknown, Reading = unknown> = Aggregate<
  'user',
  UserFields<Role> & F,
  Record<never, never>,
  UserEvents,
  'caller' | Role | 'admin',
  never,
  {
    readonly label: 'name';
    readonly fieldRights: UserGuards & Guards;
    readonly isPublic: IsPublic<Reading>;
  }
>;

type Options<Role extends string, F extends Fields, Guards, Reading, Auditors> = {
  /** The name of the domain, in texts for people. */
  readonly name: string;
  /** The roles of users, or an object of roles with their descriptions; `admin` always exists too. */
  readonly roles: readonly [Role, ...Role[]] | Described<Role>;
  /** The role of users who create their own account; by default the first. */
  readonly signUp?: NoInfer<Role>;
  /**
   * Adds the role `auditor`: until a day, it may read whatever administrators may read, and change nothing. Rights do
   * not name it.
   */
  readonly auditors?: Auditors;
  /** The users of the domain: who may read them, and additions to them. */
  readonly user?: {
    /**
     * The right to list users, and to read their id, name and added fields; by default of administrators
     * alone. All users can read themselves. Other callers see only the id of a user.
     */
    readonly read?: UserReading<NoInfer<Role>, NoInfer<F>> & Reading;
    /** Added fields. Each has a default or is optional, because nobody fills it in at sign-up. */
    readonly fields?: F;
    /** Versions of the user events, for changes to an added field. */
    readonly events?: { readonly [E in keyof UserEvents]?: Versions };
    /**
     * Narrower rights to read and write fields. The user alone reads `email`, `role`, `createdAt` and
     * `updatedAt`, apart from those in the `reads` of such a right.
     */
    readonly fieldRights?: UserRights<NoInfer<Role>, NoInfer<F>>['fieldRights'] & Guards;
    /** Holds on users, during which nobody can delete and erase them. */
    readonly hold?: NonNullable<UserRights<NoInfer<Role>, NoInfer<F>>['hold']>;
  };
};

/** Declares the roles and users of a domain; the result declares its aggregates and views. */
export const domain = <
  const Role extends string,
  F extends Fields = Record<never, never>,
  const Guards extends { readonly [name: string]: unknown } = Record<never, never>,
  const Reading extends { readonly [role: string]: unknown } = Record<never, never>,
  const Auditors extends boolean = false,
>({
  name,
  roles: given,
  signUp,
  auditors: hasAuditors,
  user: added,
}: Options<Role, F, Guards, Reading, Auditors>) => {
  const declarer = {};
  const roles = isList(given) ? given : (Object.keys(given) as unknown as readonly [Role, ...Role[]]);
  const aggregate = declareFor<Role>(declarer);
  const auditors: true | undefined = hasAuditors === true ? true : undefined;
  const fields = fieldsOf(roles, isList(given) ? {} : given, auditors);
  const fieldRights = {
    readPrivate: { reads: privateBeside(added?.fieldRights, auditors), signedIn: 'caller' },
    changeRole: { writes: ['role', ...(auditors ? [AUDITOR_UNTIL] : [])] },
  };
  if (Object.hasOwn(added?.read ?? {}, 'as'))
    throw new StartRefused(
      'user: the right read has `as`, but users have no parent: name the roles instead.',
    );
  demandAdded('field', fields, added?.fields);
  demandAdded('right', fieldRights, added?.fieldRights);
  const content = Object.keys({ ...fields, ...added?.fields });
  const user = declareUntyped(
    'user',
    {
      says: 'A person who reads, writes or administers. A deleted user appears only as “Deleted user”, the author of their texts.',
      label: 'name',
      fields: { ...fields, ...added?.fields } as Fields,
      events: {
        registered: { says: 'A user was registered.', creates: content, ...added?.events?.registered },
        updated: {
          says: 'The profile or role of a user was changed; only the changed fields are present.',
          changes: content,
          example: { email: 'countess@example.com' },
          ...added?.events?.updated,
        },
        deleted: {
          says: 'A user was deleted. The key of the personal data is destroyed afterwards.',
          ends: true,
          ...added?.events?.deleted,
        },
      },
      commands: {
        register: { says: 'Register a user', emits: 'registered' },
        update: { says: 'Change a user', emits: 'updated' },
        delete: { says: 'Delete a user, and erase the person', emits: 'deleted' },
      },
      rights: {
        read: withOneself(added?.read),
        register: {},
        write: { signedIn: 'caller' },
      },
      fieldRights: { ...fieldRights, ...added?.fieldRights },
      hold: added?.hold,
    },
    declarer,
  );
  return {
    name,
    roles,
    signUp: signUp ?? roles[0],
    auditors,
    aggregate,
    view: viewFor<Role>(),
    user: user as unknown as User<Role | AuditorRole<Auditors>, WithLastDay<F, Auditors>, Guards, Reading>,
  };
};

const isList = <List extends readonly string[]>(roles: List | object): roles is List => Array.isArray(roles);

/** The private fields of users that no right of the domain covers. */
const privateBeside = (
  added: Readonly<Record<string, { readonly reads?: readonly string[] }>> = {},
  auditors?: true,
) => {
  const others = new Set(Object.values(added).flatMap(({ reads = [] }) => reads));
  const all = ['email', 'role', ...(auditors ? [AUDITOR_UNTIL] : []), 'createdAt', 'updatedAt'];
  return all.filter((field) => !others.has(field));
};

/** All users can read themselves, whatever else their row says. */
const withOneself = ({ anyone, signedIn, scope, ...roles }: Readonly<Record<string, unknown>> = {}) => ({
  ...(scope !== undefined && { scope }),
  ...Object.fromEntries(Object.entries(roles).map(([role, cell]) => [role, orOneself(cell)])),
  ...(anyone !== undefined && { anyone }),
  ...((signedIn !== undefined || anyone !== true) && { signedIn: orOneself(signedIn ?? anyone) }),
});
const orOneself = (cell: unknown = false): unknown =>
  cell === true || (cell === false ? 'caller' : [cell, 'caller'].flat());

/** The fields of every user. */
const fieldsOf = (
  roles: readonly [string, ...string[]],
  described: Readonly<Record<string, string>>,
  auditors: true | undefined,
): Fields => ({
  name: line(100).personal({ erased: 'Deleted user' }).example('Ada Lovelace'),
  email: email()
    .optional()
    .unique()
    .personal()
    .says('Unique among users, regardless of upper and lower case.')
    .example('ada@example.com'),
  role: choice<string>({
    ...Object.fromEntries(roles.map((role) => [role, described[role] ?? ''])),
    ...(auditors && { [AUDITOR]: 'May read everything that administrators may read, and change nothing.' }),
    admin: 'May do everything, including changing and deleting the content of others.',
  })
    .named('Role')
    .says('The role of the user. The scopes of a token limit it.')
    .default(roles[0])
    .example(roles.at(-1) ?? 'admin'),
  ...(auditors && {
    [AUDITOR_UNTIL]: date()
      .optional()
      .says('The last day of an auditor, in UTC: nothing can be read after it. Other roles have none.')
      .example('2027-03-31'),
  }),
});

/** An addition may not replace a field or event of every user. */
const demandAdded = (what: string, own: object, added: object = {}): void => {
  const taken = Object.keys(added).find((name) => Object.hasOwn(own, name));
  if (taken !== undefined)
    throw new StartRefused(
      `user: the ${what} ${taken} already exists for every user: give yours another name.`,
    );
};
