import type {
  CallExpression,
  Expression,
  ImportDeclaration,
  ObjectLiteralElementLike,
  ObjectLiteralExpression,
  SourceFile,
} from 'typescript/unstable/ast';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { loadEngine } from '#shared/load-engine.ts';

/** The functions of the compiler’s syntax tree that this folder uses. */
type Syntax = typeof import('typescript/unstable/ast/is');

export type Parsed = { readonly tree: SourceFile; readonly is: Syntax; readonly text: string };

const FILE = '/declaration.ts';
const CONFIG = { compilerOptions: { noLib: true, types: [] }, files: [FILE] };

/** Parses the file of a declaration by the compiler of the project; `shown` is its path in refusals. */
export const parse = async (text: string, shown: string): Promise<Parsed> => {
  const { API, is, createVirtualFileSystem } = await loadCompiler();
  const api = new API({
    cwd: '/',
    fs: createVirtualFileSystem({ '/tsconfig.json': JSON.stringify(CONFIG), [FILE]: text }),
  });
  try {
    const [project] = api.updateSnapshot({ openProject: '/tsconfig.json' }).getProjects();
    const tree = project?.program.getSourceFile(FILE);
    const [wrong] = project?.program.getSyntacticDiagnostics(FILE) ?? [];
    if (tree === undefined || wrong !== undefined)
      throw new StartRefused(
        `${shown} cannot be read as TypeScript: ${wrong?.text ?? 'it has no syntax tree'} (line ${lineAt(text, wrong?.pos ?? 0)}).`,
      );
    return { tree, is, text };
  } finally {
    api.close();
  }
};

const lineAt = (text: string, position: number): number => text.slice(0, position).split('\n').length;

const loadCompiler = () =>
  loadEngine('Changing declarations', async () => {
    try {
      const [{ API }, { createVirtualFileSystem }, is] = await Promise.all([
        import('typescript/unstable/sync'),
        import('typescript/unstable/fs'),
        import('typescript/unstable/ast/is'),
      ]);
      return { API, createVirtualFileSystem, is };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw cause;
      throw new StartRefused(
        'The compiler of this project is too old to change declarations: run npm install --save-dev typescript@latest.',
        { cause },
      );
    }
  });

/** Without parentheses, `as const` and `satisfies`. */
export const bare = (node: Expression, { is }: Pick<Parsed, 'is'>): Expression =>
  is.isAsExpression(node) || is.isSatisfiesExpression(node) || is.isParenthesizedExpression(node)
    ? bare(node.expression, { is })
    : node;

/** The calls at the top of the file whose results it exports or keeps, such as `aggregate('note', {…})`. */
export const callsIn = (
  { tree, is }: Parsed,
  callee: string,
): readonly { readonly call: CallExpression; readonly name: string | undefined }[] =>
  tree.statements.flatMap((statement) => {
    const given = is.isVariableStatement(statement)
      ? statement.declarationList.declarations.map(({ name, initializer }) => ({
          name: is.isIdentifier(name) ? name.text : undefined,
          value: initializer,
        }))
      : is.isExportAssignment(statement)
        ? [{ name: undefined, value: statement.expression }]
        : [];
    return given.flatMap(({ name, value }) => {
      const call = value && bare(value, { is });
      if (call === undefined || !is.isCallExpression(call)) return [];
      const called = is.isPropertyAccessExpression(call.expression) ? call.expression.name : call.expression;
      return is.isIdentifier(called) && called.text === callee ? [{ call, name }] : [];
    });
  });

export const importsIn = ({ tree, is }: Parsed): readonly ImportDeclaration[] =>
  tree.statements.filter((statement) => is.isImportDeclaration(statement));

export const moduleOf = (declaration: ImportDeclaration, { is }: Pick<Parsed, 'is'>): string =>
  is.isStringLiteral(declaration.moduleSpecifier) ? declaration.moduleSpecifier.text : '';

/** The names that an import gives to this file, each with the name that the module exports. */
export const bindingsOf = (
  declaration: ImportDeclaration,
  { is }: Pick<Parsed, 'is'>,
): readonly { readonly local: string; readonly exported: string }[] => {
  const named = declaration.importClause?.namedBindings;
  if (named === undefined) return [];
  if (is.isNamespaceImport(named)) return [{ local: named.name.text, exported: '*' }];
  return named.elements.map(({ name, propertyName }) => ({
    local: name.text,
    exported: (propertyName ?? name).text,
  }));
};

/** The value of a member of an object. */
export const memberOf = (object: ObjectLiteralExpression, name: string, parsed: Pick<Parsed, 'is'>) => {
  const { is } = parsed;
  for (const property of object.properties) {
    if (nameOf(property, parsed) !== name) continue;
    if (is.isPropertyAssignment(property)) return bare(property.initializer, parsed);
    if (is.isShorthandPropertyAssignment(property) && is.isIdentifier(property.name)) return property.name;
  }
  return undefined;
};

/** The name of a member, unless it is computed or spread. */
export const nameOf = (
  property: ObjectLiteralElementLike,
  { is }: Pick<Parsed, 'is'>,
): string | undefined => {
  if (is.isSpreadAssignment(property)) return undefined;
  const key = property.name;
  return is.isIdentifier(key) || is.isStringLiteral(key) ? key.text : undefined;
};
