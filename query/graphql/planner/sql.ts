import type { Parameter } from './parameter.ts';

/**
 * A piece of SQL. It consists of texts from this source, of literals, which are quoted here, and of
 * parameters, whose values never become text. So no text of a request can enter a statement. A piece refers
 * to the pieces within it: copying their parts at each level would cost the square of a long statement.
 */
export class Sql {
  readonly parts: readonly (string | Parameter | Sql)[];

  private constructor(parts: readonly (string | Parameter | Sql)[]) {
    this.parts = parts;
  }

  /** The tag of a template, whose holes are SQL already. */
  static readonly template = (strings: TemplateStringsArray, ...holes: readonly Sql[]): Sql => {
    const parts: (string | Sql)[] = [];
    for (const [index, text] of strings.raw.entries()) {
      parts.push(text);
      const hole = holes[index];
      if (hole !== undefined) parts.push(hole);
    }
    return new Sql(parts);
  };

  static readonly joined = (pieces: readonly Sql[], separator: Sql): Sql =>
    new Sql(pieces.flatMap((piece, index) => (index === 0 ? [piece] : [separator, piece])));

  /** Quoted, with backslashes taken literally (`standard_conforming_strings`). */
  static readonly literal = (text: string): Sql => {
    if (text.includes('\0')) throw new RangeError('PostgreSQL has no U+0000');
    return new Sql([`'${text.replaceAll("'", "''")}'`]);
  };

  /** A name from the declaration. */
  static readonly identifier = (word: string): Sql => {
    if (!/^[a-z][a-z0-9_]*$/.test(word))
      throw new RangeError(`${word} is not a valid name of a table or a column`);
    return new Sql([word]);
  };

  static readonly number = (value: number): Sql => new Sql([String(value)]);

  static readonly parameter = (parameter: Parameter): Sql => new Sql([parameter]);

  /** A name that is unique in the statement. */
  static readonly alias = (letter: string, number: number): Sql => new Sql([`${letter}${number}`]);
}

export const { template: sql, literal, joined } = Sql;

export const parameter = (type: Parameter['type'], read: Parameter['read']): Sql =>
  Sql.parameter({ type, read });

export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`true` : joined(conditions, sql` and `);

/**
 * The text of a statement, and its parameters in the order of their numbers; a repeated parameter has one
 * number.
 */
export const render = (
  statement: Sql,
): { readonly text: string; readonly parameters: readonly Parameter[] } => {
  const numbers = new Map<Parameter, number>();
  const texts: string[] = [];
  const write = ({ parts }: Sql): void => {
    for (const part of parts) {
      if (typeof part === 'string') texts.push(part);
      else if (part instanceof Sql) write(part);
      else {
        const number = numbers.get(part) ?? numbers.size + 1;
        numbers.set(part, number);
        texts.push(`$${number}::${part.type}`);
      }
    }
  };
  write(statement);
  return { text: texts.join(''), parameters: [...numbers.keys()] };
};
