import { stripTypeScriptTypes } from 'node:module';

/** Comments on lines of their own: browsers do not need them, and they would be a tenth of what is sent. */
const COMMENTS = /^[ \t]*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)\n/gm;
/** No text of a page depends on it. */
const INDENT = /^[ \t]+/gm;

/**
 * A module as browsers run it. Prints the source again, which also removes comments of packages. Node warns that
 * this function may change; but Node itself runs our sources with it, and operators can do nothing about the
 * warning.
 */
export const stripTypes = (source: string): string => {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source.replaceAll(COMMENTS, ''), { mode: 'transform' }).replaceAll(
      INDENT,
      '',
    );
  } finally {
    process.emitWarning = emitWarning;
  }
};
