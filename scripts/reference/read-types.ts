// Over 200 lines, because it is one thing: how the types of a declaration are read, one function for each
// form of type.
import type {
  Node,
  NodeArray,
  ParameterDeclaration,
  SourceFile,
  TypeElement,
  TypeNode,
  TypeReferenceNode,
} from 'typescript/unstable/ast';
import {
  isArrowFunction,
  isFunctionDeclaration,
  isInterfaceDeclaration,
  isIntersectionTypeNode,
  isMappedTypeNode,
  isMethodSignatureDeclaration,
  isParenthesizedTypeNode,
  isPropertySignatureDeclaration,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isTypeReferenceNode,
  isUnionTypeNode,
  isVariableStatement,
} from 'typescript/unstable/ast/is';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';

/** An option: its name, the type of its value, and the text of its comment, if any. */
export type Entry = { readonly name: string; readonly value: string; readonly says: string };

/** The types of some files, parsed without imports and type checks. */
export type Types = Disposable & {
  /** Its properties, and those of its parts and alternatives. */
  membersOf(file: string, type: string): readonly Entry[];
  methodsOf(file: string, type: string): readonly Entry[];
  /** The alternatives of a union, by their text. */
  alternativesOf(file: string, type: string): readonly Entry[];
  /** The exported functions, except those marked `@internal`. */
  functionsIn(file: string): readonly Entry[];
};

const CONFIG = JSON.stringify({
  compilerOptions: { noLib: true, noResolve: true, types: [] },
  include: ['*.ts'],
});

export const readTypes = (sources: Readonly<Record<string, string>>): Types => {
  const files = Object.fromEntries(Object.entries(sources).map(([name, text]) => [`/${name}`, text]));
  const api = new API({ cwd: '/', fs: createVirtualFileSystem({ '/tsconfig.json': CONFIG, ...files }) });
  const project = api.updateSnapshot({ openProjects: ['/tsconfig.json'] }).getProject('/tsconfig.json');
  const parsed = (file: string): Parsed => {
    const source = project?.program.getSourceFile(`/${file}`);
    if (source === undefined) throw new Error(`There is no ${file}`);
    const entry = (node: Node, name: string, value: string, from = node.pos): Entry => ({
      name,
      value,
      says: commentIn(source.text.slice(from, node.getStart(source))),
    });
    return { source, entry };
  };
  return {
    membersOf: (file, type) => membersOf(parsed(file), type),
    alternativesOf: (file, type) => alternativesOf(parsed(file), type),
    functionsIn: (file) => functionsIn(parsed(file)),
    methodsOf: (file, type) => methodsOf(parsed(file), type),
    [Symbol.dispose]: () => api.close(),
  };
};

type Parsed = {
  readonly source: SourceFile;
  entry(node: Node, name: string, value: string, from?: number): Entry;
};

/** The last comment in the text. */
const commentIn = (text: string): string =>
  ([...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].at(-1)?.[1] ?? '')
    .replaceAll(/^\s*\*/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const declared = ({ source }: Parsed, name: string): TypeNode | NodeArray<TypeElement> => {
  const found = [...source.statements].find(
    (node) => (isTypeAliasDeclaration(node) || isInterfaceDeclaration(node)) && node.name.text === name,
  );
  if (found !== undefined && isTypeAliasDeclaration(found)) return found.type;
  if (found !== undefined && isInterfaceDeclaration(found)) return found.members;
  throw new Error(`${source.fileName} has no type ${name}`);
};

const membersOf = (parsed: Parsed, name: string): readonly Entry[] => {
  const type = declared(parsed, name);
  return 'kind' in type ? inType(parsed, type) : elements(parsed, type);
};

const inType = (parsed: Parsed, type: TypeNode): readonly Entry[] => {
  if (isParenthesizedTypeNode(type)) return inType(parsed, type.type);
  if (isIntersectionTypeNode(type)) return [...type.types].flatMap((part) => inType(parsed, part));
  if (isUnionTypeNode(type))
    return branches(type.types, parsed).flatMap(({ node, from }) => ofBranch(parsed, node, from));
  if (isTypeLiteralNode(type)) return elements(parsed, type.members);
  if (isMappedTypeNode(type)) return [mapped(parsed, type)];
  if (isTypeReferenceNode(type) && hasOwn(parsed, type))
    return membersOf(parsed, type.typeName.getText(parsed.source));
  return [];
};

/** A type that is not declared in this file is documented elsewhere. */
const hasOwn = (parsed: Parsed, type: Node & { readonly typeName: Node }): boolean =>
  [...parsed.source.statements].some(
    (node) => isTypeAliasDeclaration(node) && node.name.text === type.typeName.getText(parsed.source),
  );

/** The comment of an alternative is at its first property. */
const ofBranch = (parsed: Parsed, node: TypeNode, from: number): readonly Entry[] => {
  if (!isTypeLiteralNode(node)) return [];
  return [...node.members].flatMap((member, index) =>
    isPropertySignatureDeclaration(member)
      ? [
          index === 0 && commentIn(textBefore(parsed, member, member.pos)) === ''
            ? { ...parsed.entry(node, nameOf(parsed, member), '', from), value: textOf(parsed, member.type) }
            : parsed.entry(member, nameOf(parsed, member), textOf(parsed, member.type)),
        ]
      : [],
  );
};

const textBefore = ({ source }: Parsed, node: Node, from: number): string =>
  source.text.slice(from, node.getStart(source));

/** Comments come before the bar, which is part of no node. */
const branches = (
  types: Iterable<TypeNode>,
  { source }: Parsed,
): readonly { readonly node: TypeNode; readonly from: number }[] => {
  const all = [...types];
  return all.map((node, index) => ({
    node,
    from: all[index - 1]?.end ?? source.text.lastIndexOf('=', node.pos),
  }));
};

const alternativesOf = (parsed: Parsed, name: string): readonly Entry[] => {
  const type = declared(parsed, name);
  if (!('kind' in type) || !isUnionTypeNode(type)) throw new Error(`${name} has no alternatives`);
  return branches(type.types, parsed).flatMap(({ node, from }) =>
    isUnionOf(parsed, node)
      ? alternativesOf(parsed, node.typeName.getText(parsed.source))
      : [parsed.entry(node, node.getText(parsed.source), '', from)],
  );
};

/** Another union of this file, whose alternatives are listed in its place. */
const isUnionOf = (parsed: Parsed, node: TypeNode): node is TypeReferenceNode => {
  if (!isTypeReferenceNode(node) || !hasOwn(parsed, node)) return false;
  const type = declared(parsed, node.typeName.getText(parsed.source));
  return 'kind' in type && isUnionTypeNode(type);
};

const elements = (parsed: Parsed, members: Iterable<TypeElement>): readonly Entry[] =>
  [...members].flatMap((member): readonly Entry[] => {
    if (!isPropertySignatureDeclaration(member) || nameOf(parsed, member).startsWith('[')) return [];
    const { type } = member;
    // The member belongs to another form of the type.
    if (textOf(parsed, type) === 'never') return [];
    const parts =
      type !== undefined && isTypeLiteralNode(type)
        ? [...type.members].filter(isPropertySignatureDeclaration)
        : [];
    const name = nameOf(parsed, member);
    if (parts.length === 0) return [parsed.entry(member, name, textOf(parsed, type))];
    return elements(parsed, parts).map((part) => ({ ...part, name: `${name}.${part.name}` }));
  });

const methodsOf = (parsed: Parsed, name: string): readonly Entry[] => {
  const type = declared(parsed, name);
  if ('kind' in type) throw new Error(`${name} has no methods`);
  return [...type]
    .filter(isMethodSignatureDeclaration)
    .filter((member) => !commentIn(textBefore(parsed, member, member.pos)).includes('@internal'))
    .map((member) =>
      parsed.entry(member, `${nameOf(parsed, member)}(${parametersOf(parsed, member.parameters)})`, ''),
    );
};

const nameOf = ({ source }: Parsed, { name }: { readonly name: Node }): string => name.getText(source);

const textOf = ({ source }: Parsed, type: TypeNode | undefined): string =>
  (type?.getText(source) ?? '').replaceAll(/\s+/g, ' ');

/** Mapped types: any number of properties, named by the kind of their names. */
const mapped = (
  parsed: Parsed,
  node: Node & { readonly typeParameter: Node & { readonly constraint?: Node }; readonly type?: TypeNode },
) => {
  const names = node.typeParameter.constraint?.getText(parsed.source) ?? '';
  return parsed.entry(
    node.typeParameter,
    `[${names}]`,
    textOf(parsed, node.type),
    node.getStart(parsed.source),
  );
};

const parametersOf = ({ source }: Parsed, parameters: Iterable<ParameterDeclaration>): string =>
  [...parameters]
    .map((parameter) => {
      const { name, type, initializer, questionToken, dotDotDotToken } = parameter;
      const literal =
        type !== undefined && isTypeLiteralNode(type)
          ? [...type.members].filter(isPropertySignatureDeclaration)
          : [];
      const text =
        literal.length > 0
          ? `{ ${literal.map((member) => member.name.getText(source)).join(', ')} }`
          : name.getText(source);
      const isOptional = initializer !== undefined || questionToken !== undefined;
      return `${dotDotDotToken === undefined ? '' : '…'}${text}${isOptional && literal.length === 0 ? '?' : ''}`;
    })
    .join(', ');

/** Of several overloads of a function, the one with a comment. */
const functionsIn = (parsed: Parsed): readonly Entry[] => {
  const { source } = parsed;
  const entries = [...source.statements].flatMap((node): readonly Entry[] => {
    const comment = commentIn(textBefore(parsed, node, node.pos));
    if (comment.includes('@internal') || !/^export\b/.test(node.getText(source))) return [];
    if (isFunctionDeclaration(node) && node.name !== undefined && node.body === undefined)
      return [
        { name: `${node.name.text}(${parametersOf(parsed, node.parameters)})`, value: '', says: comment },
      ];
    if (!isVariableStatement(node)) return [];
    return [...node.declarationList.declarations].flatMap(({ name, initializer }) =>
      initializer !== undefined && isArrowFunction(initializer)
        ? [parsed.entry(node, `${name.getText(source)}(${parametersOf(parsed, initializer.parameters)})`, '')]
        : [],
    );
  });
  return entries.filter(
    ({ says }, index) =>
      says !== '' || !entries.some((other, at) => at !== index && sameName(other, entries[index])),
  );
};

const sameName = (one: Entry, other: Entry | undefined): boolean =>
  one.name.split('(')[0] === other?.name.split('(')[0];
