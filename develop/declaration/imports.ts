import { addedTo, type Edit } from './edit.ts';
import { bindingsOf, importsIn, moduleOf, type Parsed } from './syntax.ts';
import { textOfImport } from './text-of-aggregate.ts';
import { COLUMNS_MAX, literal } from './text-of-field.ts';

/** Imports names of a module, in the import that the file has of it, or in one more. */
export const importNames = (parsed: Parsed, names: readonly string[], module: string): readonly Edit[] => {
  const { is } = parsed;
  const present = importsIn(parsed);
  const known = new Set(present.flatMap((each) => bindingsOf(each, parsed).map(({ local }) => local)));
  const missing = names.filter((name) => !known.has(name));
  if (missing.length === 0) return [];
  const same = present.find(
    (each) =>
      moduleOf(each, parsed) === module &&
      each.importClause?.namedBindings !== undefined &&
      is.isNamedImports(each.importClause.namedBindings) &&
      !/^import\s+type\b/.test(parsed.text.slice(each.pos, each.end).trimStart()),
  );
  const named = same?.importClause?.namedBindings;
  if (same === undefined || named === undefined || !is.isNamedImports(named))
    return [newImport(parsed, textOfImport(missing, module), module)];
  const source = parsed.text.slice(named.elements.pos, named.elements.end);
  // A comment, or another name for one of them, stays in its place.
  if (/\/[/*]|\bas\b|\btype\b/.test(source))
    return missing.flatMap((name) => addedTo(parsed.text, named.elements, name));
  const all = [...named.elements.map(({ name }) => name.text), ...missing].toSorted();
  const line = `{ ${all.join(', ')} }`;
  const isShort = `import ${line} from ${literal(module)};`.length <= COLUMNS_MAX;
  const text = isShort ? line : `{\n${all.map((name) => `  ${name},\n`).join('')}}`;
  return [{ from: startOfBraces(parsed.text, named.pos), to: named.end, text }];
};

const startOfBraces = (text: string, from: number): number => text.indexOf('{', from);

/** Among the imports of the file, by the order of modules. */
const newImport = (parsed: Parsed, line: string, module: string): Edit => {
  const present = importsIn(parsed);
  const isNear = (given: string): boolean => given.startsWith('.');
  const before = present.findLast((each) => {
    const other = moduleOf(each, parsed);
    return isNear(other) === isNear(module) ? other < module : isNear(module);
  });
  if (before !== undefined) return { from: before.end, to: before.end, text: `\n${line}` };
  const [first] = present;
  const at = first === undefined ? 0 : first.pos + leadOf(parsed.text.slice(first.pos, first.end));
  return { from: at, to: at, text: `${line}\n` };
};

/** The comments at the top of a file stay there. */
const leadOf = (text: string): number => Math.max(text.search(/^import\b/m), 0);
