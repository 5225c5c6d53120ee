import pg from 'pg';

/** A text as a literal in SQL, where a statement cannot have parameters. */
export const literal = (text: string): string => pg.escapeLiteral(text);
