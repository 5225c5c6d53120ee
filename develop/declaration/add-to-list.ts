import { StartRefused } from '#kernel/base/start-refused.ts';
import { addedTo, withEdits } from './edit.ts';
import { importNames } from './imports.ts';
import { bindingsOf, callsIn, importsIn, moduleOf, type Parsed, parse } from './syntax.ts';

/** The file that lists the aggregates of a domain, such as domain/domain.ts. */
export type ListFile = {
  readonly parsed: Parsed;
  /** The module that declares roles and users. */
  readonly base: string;
  /** The module that has `assemble`. */
  readonly language: string;
  /** The name under which it exports the domain. */
  readonly exported: string;
  /** The modules of the aggregates in the list, by the name that they export. */
  readonly modules: Readonly<Record<string, string>>;
};

export const readList = async (text: string, shown: string): Promise<ListFile> => {
  const parsed = await parse(text, shown);
  const [found] = callsIn(parsed, 'assemble');
  const [given] = found?.call.arguments ?? [];
  const { is } = parsed;
  if (found?.name === undefined || given === undefined || !is.isIdentifier(given))
    throw new StartRefused(`${shown} has no assemble(base, […]) at its top: add the aggregate by hand.`);
  const bound = importsIn(parsed).flatMap((each) =>
    bindingsOf(each, parsed).map((binding) => ({ ...binding, module: moduleOf(each, parsed) })),
  );
  const moduleOfName = (name: string): string | undefined =>
    bound.find(({ local }) => local === name)?.module;
  const base = moduleOfName(given.text);
  if (base === undefined)
    throw new StartRefused(
      `${shown} does not import ${given.text}, the first argument of assemble, from another file: add the aggregate by hand.`,
    );
  return {
    parsed,
    base,
    language: moduleOfName('assemble') ?? 'annals',
    exported: found.name,
    modules: Object.fromEntries(bound.map(({ local, module }) => [local, module])),
  };
};

/** The list with one more aggregate, and its import. */
export const withListed = (
  { parsed, modules }: ListFile,
  { name, module, shown }: { readonly name: string; readonly module: string; readonly shown: string },
): string => {
  if (modules[name] !== undefined)
    throw new StartRefused(`${shown} has ${name} already: give the aggregate another name.`);
  const list = callsIn(parsed, 'assemble')[0]?.call.arguments[1];
  if (list === undefined || !parsed.is.isArrayLiteralExpression(list))
    throw new StartRefused(`${shown} has no assemble(base, […]) to add ${name} to.`);
  return withEdits(parsed.text, [
    ...addedTo(parsed.text, list.elements, name),
    ...importNames(parsed, [name], module),
  ]);
};
