import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename } from 'node:path';
import { parseAst } from 'vitest/node';

export type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
};

/** The files of a declaration, each after those that it imports, and the name of the domain. */
export type Shipped = { readonly files: readonly string[]; readonly exported: string };

export const SHIPPED: Readonly<Record<string, Shipped>> = {
  publishing: {
    files: ['base', 'article', 'comment', 'publishing'].map((name) => `domain/${name}.ts`),
    exported: 'publishing',
  },
  expenses: {
    files: ['base', 'team', 'claim', 'spending', 'domain'].map(
      (name) => `examples/expenses/domain/${name}.ts`,
    ),
    exported: 'expenses',
  },
};

export const parsed = (source: string): Node => parseAst(source, { lang: 'js' }) as unknown as Node;

/** One function body, which returns the domain: each file is a block that returns its exports. */
export const sourceOf = ({ files, exported }: Shipped): string =>
  `${files.map(blockOf).join('\n')}\nreturn ${exported};`;

const blockOf = (file: string): string => {
  const source = stripTypeScriptTypes(readFileSync(file, 'utf8'));
  const body = parsed(source).body as readonly Node[];
  const names: string[] = [];
  let text = '';
  for (const statement of body) {
    if (statement.type === 'ImportDeclaration') text += importOf(statement);
    else if (statement.type === 'ExportNamedDeclaration') {
      const declaration = statement.declaration as Node;
      names.push(...(declaration.declarations as readonly Node[]).flatMap(({ id }) => namesIn(id as Node)));
      text += `${source.slice(declaration.start, declaration.end)}\n`;
    } else text += `${source.slice(statement.start, statement.end)}\n`;
  }
  const all = `{ ${names.join(', ')} }`;
  const own = basename(file, '.ts');
  return `const $${own} = (() => {\n${text}return ${all};\n})();\n${own === 'base' ? '' : `const ${all} = $${own};`}`;
};

const namesIn = (pattern: Node): readonly string[] =>
  pattern.type === 'Identifier'
    ? [pattern.name as string]
    : (pattern.properties as readonly Node[]).map(({ value }) => (value as Node).name as string);

/** The function is given the exports of packages and other folders; a neighbour is a block before. */
const importOf = ({ source, specifiers }: Node): string => {
  const from = (source as Node).value as string;
  if (!from.startsWith('./')) return '';
  const block = `$${basename(from, '.ts')}`;
  const all = (specifiers as readonly Node[]).map(({ type, local }) => {
    const name = (local as Node).name as string;
    return type === 'ImportNamespaceSpecifier'
      ? `const ${name} = ${block};\n`
      : `const { ${name} } = ${block};\n`;
  });
  return all.join('');
};
