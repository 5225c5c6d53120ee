import { readFileSync } from 'node:fs';
import { stripTypes } from '#edge/pages/strip-types.ts';

/**
 * A module and all that it imports, as one classic script: a page that is saved as one file has no modules
 * beside it. The modules are ours, so each statement of import or export has one form.
 */
export const bundle = (entry: URL, packages: Readonly<Record<string, URL>>): string => {
  const names = new Map<string, string>();
  const parts: string[] = [];
  const addOnce = (url: URL): string => {
    const known = names.get(url.href);
    if (known !== undefined) return known;
    const source = stripTypes(readFileSync(url, 'utf8'));
    const body = source.replaceAll(IMPORT, (_whole, named: string, specifier: string) => {
      const file = specifier.replace(/\.ts$/, EXTENSION);
      const found = packages[specifier] ?? (specifier.startsWith('.') ? new URL(file, url) : undefined);
      if (found === undefined) throw new Error(`${url.href} imports ${specifier}, which no browser finds`);
      return `const {${named.replaceAll(/\bas\b/g, ':')}} = ${addOnce(found)};`;
    });
    const exported = [...body.matchAll(EXPORT)].map(([, name = '']) => name);
    const name = `module${names.size}`;
    names.set(url.href, name);
    parts.push(
      `const ${name} = (() => {\n${body.replaceAll(EXPORT, 'const $1')}\nreturn { ${exported.join(', ')} };\n})();`,
    );
    return name;
  };
  // As in Node, it is there without an import.
  const buffer = packages['node:buffer'];
  if (buffer !== undefined) parts.push(`const { Buffer } = ${addOnce(buffer)};`);
  addOnce(entry);
  return `(() => {\n"use strict";\n${parts.join('\n')}\n})();\n`;
};

/** In the package, all modules but the page itself are compiled, like this one. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*['"]([^'"]+)['"];?$/gm;
const EXPORT = /^export const (\w+)/gm;
