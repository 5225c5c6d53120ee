import { oneOf } from '#kernel/base/names.ts';
import { SIGNATURE } from '#kernel/base/signature.ts';
import { ABSENT_TARGET } from '#kernel/conditions/references.ts';
import { isFileField } from '#kernel/decide/accepted-files.ts';
import { reasonOf } from '#kernel/decide/reasons.ts';
import { textOf } from '#kernel/declare/texts.ts';
import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import { maySign } from '#kernel/registry/signed.ts';
import type { Member } from '../../rows/source.ts';
import { enumName, idArgument, memberName } from '../rules/names.ts';

type Typed = Pick<Kind, 'type'>;

export type Line = readonly [says: string, text: string];

export const describe = (says: string | undefined, text: string): string =>
  says === undefined ? text : `${JSON.stringify(says)}\n${text}`;
export const block = (says: string | undefined, head: string, lines: readonly Line[]): string =>
  lines.length === 0
    ? ''
    : describe(says, `${head} {\n${lines.map(([each, text]) => describe(each, text)).join('\n')}\n}`);

export const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1).replace(/\.?$/, '.')}`;

export const valueType = (kind: Typed, member: Pick<Member, 'name' | 'def' | 'target'>): string =>
  member.target ? member.target.type : member.def.values ? enumName(kind, member) : member.def.graphql;

/** A field of an input, which is `whole` in an action and `required` in a creation too. */
export const inputOf = (
  kind: Typed,
  member: Member,
  as: 'new' | 'changed' | 'whole' | 'required',
): string => {
  const { def, target } = member;
  const type = target ? 'ID' : valueType(kind, member);
  const name = memberName(member);
  if (as === 'changed') return `${name}: ${type}`;
  if (as === 'required' || (as === 'whole' && !def.optional)) return `${name}: ${type}!`;
  if (Array.isArray(def.initial)) return `${name}: ${type}! = ${JSON.stringify(def.initial)}`;
  if (def.initial !== undefined)
    return `${name}: ${type} = ${def.values ? String(def.initial) : JSON.stringify(def.initial)}`;
  return `${name}: ${type}${def.optional ? '' : '!'}`;
};

export const enumsOf = (
  of: Typed & { readonly called: string },
  members: readonly Pick<Member, 'name' | 'def'>[],
): readonly string[] =>
  members
    .filter(({ def }) => def.values)
    .map((member) =>
      block(
        textOf(member.def) ?? `The ${member.name} of ${oneOf(of.called)}.`,
        `enum ${enumName(of, member)}`,
        (member.def.values ?? []).map((value): Line => [member.def.means?.[value] ?? sentence(value), value]),
      ),
    );

/** The fields that derive from an upload: its signed address, and the details of a file. */
export const uploadFieldLines = ({ name, def }: Pick<Member, 'name' | 'def'>): readonly Line[] =>
  def.kind === 'upload'
    ? [
        [
          isFileField(def)
            ? `A temporary address of the file in \`${name}\` that needs no token. Null without a file, and for former states.`
            : `A temporary address of \`${name}\` that needs no token, for example for \`<img>\`. Null without a picture, and for former states.`,
          `${name}Address: SignedAddress`,
        ],
        ...(isFileField(def)
          ? [
              [
                `The type, size, digest and name of the file in \`${name}\`.`,
                `${name}Details: FileDetails`,
              ] as const,
            ]
          : []),
      ]
    : [];

/** The details of a file, which only domains with files have. */
export const FILE_DETAILS = block('The details of an uploaded file.', 'type FileDetails', [
  ['The media type, which the content matches.', 'type: String!'],
  ['The size in bytes.', 'bytes: Int!'],
  ['The SHA-256 digest of the content, in hexadecimal.', 'sha256: String!'],
  ['The name that the client gave, made safe.', 'name: String'],
]);

export const PAGE = 'first: Int, after: String, last: Int, before: String';

/** The edge and connection of a type. */
export const pagesOf = (type: string): readonly string[] => [
  block('An item of a page, with its cursor.', `type ${type}Edge`, [
    ['The cursor of the item, for `after` and `before`.', 'cursor: String!'],
    ['The item itself.', `node: ${type}!`],
  ]),
  block('A page of a list (GraphQL Cursor Connections Specification).', `type ${type}Connection`, [
    ['The items of the page with their cursors.', `edges: [${type}Edge!]!`],
    ['The items of the page.', `nodes: [${type}!]!`],
    ['The pages before and after this one.', 'pageInfo: PageInfo!'],
    [
      'Number of items in all pages together. It costs more than a page: select it only if you need it. With `at` it is null if counting needs too many reads; then `extensions.notes` of the response names it.',
      'totalCount: Int',
    ],
  ]),
];

/** The id of a reference whose target may be absent. */
export const idLine = (member: Pick<Member, 'name' | 'def' | 'target'>, isNullable: boolean): Line => [
  `The id of \`${memberName(member)}\`, also if that is null.`,
  `${idArgument(member)}: ID${isNullable ? '' : '!'}`,
];

/** A reference whose target may be absent. */
export const withAbsence = (says: string): string => `${says} ${ABSENT_TARGET}`;

/** The arguments beside the form: why the caller sends it, and their signature. */
export const argumentsBeside = (kind: Kind, command: CommandInfo): string => {
  const reason = reasonOf(kind, command);
  const said = reason === undefined ? '' : `, reason: String${reason === 'required' ? '!' : ''}`;
  return maySign(kind, command) ? `${said}, ${SIGNATURE}: String` : said;
};
