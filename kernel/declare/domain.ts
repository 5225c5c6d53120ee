import { StartRefused } from '#shared/process/start-refused.ts';
import { type Aggregate, type Declaration, declareFor, type Versions } from './aggregate.ts';
import type { Condition } from './conditions.ts';
import { type Choice, choice, email, type Field, type Fields, line } from './fields.ts';
import { viewFor } from './view.ts';

type UserFields<Role extends string> = {
  readonly name: Field<string>;
  readonly email: Field<string | null>;
  readonly role: Choice<Role | 'admin'>;
};
type UserEvent = { readonly changes: readonly string[] };
type UserEvents = {
  readonly registered: UserEvent;
  readonly updated: UserEvent;
  readonly deleted: UserEvent;
};
/** Of its rights, only who reads what is said; what authors add has others besides. */
type UserGuards = {
  readonly readPrivate: { readonly reads: readonly ['email', 'role', 'createdAt', 'updatedAt'] };
};
export type User<Role extends string, F extends Fields, Guards = unknown> = Aggregate<
  'user',
  UserFields<Role> & F,
  Record<never, never>,
  UserEvents,
  'caller',
  never,
  { readonly label: 'name'; readonly fieldRights: UserGuards & Guards }
>;

type Options<Role extends string, F extends Fields, Guards> = {
  /** Of the domain, in texts for people. */
  readonly name: string;
  /** Of the users; `admin` is there besides. */
  readonly roles: readonly [Role, ...Role[]];
  /** What the roles mean. */
  readonly means?: { readonly [R in Role]?: string };
  /** What people become who create an account for themselves: the first role, unless another is named. */
  readonly signUp?: Role;
  /** What the domain adds to users. */
  readonly user?: {
    /** Each has a default or is optional: nobody fills it in who signs up. */
    readonly fields: F;
    /** The versions of events, where a field that was added before was changed. */
    readonly events?: { readonly [E in keyof UserEvents]?: Versions };
    /** Who may read and write them. */
    readonly fieldRights?: Declaration<
      Role,
      F,
      unknown,
      unknown,
      unknown,
      unknown,
      undefined,
      undefined,
      Condition<'caller', F, unknown>
    >['fieldRights'] &
      Guards;
  };
};

/** The roles of a domain and its users, with which its aggregates and views are declared. */
export const domain = <
  const Role extends string,
  F extends Fields = Record<never, never>,
  const Guards extends { readonly [name: string]: unknown } = Record<never, never>,
>({
  name,
  roles,
  means,
  signUp = roles[0],
  user: added,
}: Options<Role, F, Guards>) => {
  const aggregate = declareFor<Role>({});
  const fields = fieldsOf(roles, means);
  const fieldRights = {
    readPrivate: { reads: ['email', 'role', 'createdAt', 'updatedAt'], signedIn: 'caller' },
    changeRole: { writes: ['role'] },
  };
  demandAdded('field', fields, added?.fields);
  demandAdded('right', fieldRights, added?.fieldRights);
  const content = Object.keys({ ...fields, ...added?.fields }) as readonly string[] as readonly never[];
  const user = aggregate('user', {
    says: 'Somebody who reads, writes or administers. Of those who were deleted, only “Deleted user” is left, as the author of what they wrote.',
    label: 'name',
    fields: { ...fields, ...added?.fields } as Fields,
    events: {
      registered: { says: 'A user was registered.', creates: content, ...added?.events?.registered },
      updated: {
        says: 'A user’s profile or role was changed; only the changed fields are there.',
        changes: content,
        example: { email: 'countess@example.com' } as never,
        ...added?.events?.updated,
      },
      deleted: {
        says: 'A user was deleted; the key of the personal data is destroyed after it.',
        ends: true,
        ...added?.events?.deleted,
      },
    },
    commands: {
      register: { says: 'Register a user', emits: 'registered' },
      update: { says: 'Change a user', emits: 'updated' },
      delete: { says: 'Delete a user, and erase the person', emits: 'deleted' },
    },
    rights: { read: { anyone: true }, register: {}, write: { signedIn: 'caller' } } as never,
    fieldRights: { ...fieldRights, ...added?.fieldRights } as never,
  });
  return {
    name,
    roles,
    signUp,
    aggregate,
    view: viewFor<Role>(),
    user: user as unknown as User<Role, F, Guards>,
  };
};

/** Of every user. */
const fieldsOf = (
  roles: readonly [string, ...string[]],
  means: Readonly<Record<string, string | undefined>> | undefined,
): Fields => ({
  name: line(100).personal({ erased: 'Deleted user' }).example('Ada Lovelace'),
  email: email()
    .optional()
    .unique()
    .personal()
    .says('No two users have the same, whatever its case.')
    .example('ada@example.com'),
  role: choice<string>(...roles, 'admin')
    .named('Role')
    .says('The role of the user. The scopes of a token limit it.')
    .means({ ...means, admin: 'Does everything, also to what others wrote.' })
    .default(roles[0])
    .example(roles.at(-1) ?? 'admin'),
});

/** What is added takes the place of nothing that every user has. */
const demandAdded = (what: string, own: object, added: object = {}): void => {
  const taken = Object.keys(added).find((name) => Object.hasOwn(own, name));
  if (taken !== undefined)
    throw new StartRefused(`user: the ${what} ${taken} is one that every user has: give yours another name.`);
};
