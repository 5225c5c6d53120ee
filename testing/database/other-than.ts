/** Another value of the same type than a column has, in SQL. */
export const otherThan = (column: string, type: string): string => {
  if (type.endsWith('[]')) return `coalesce(${column}, '{}') || '{forged}'`;
  if (/int|numeric/.test(type)) return `coalesce(${column}, 0) + 100000`;
  if (type.startsWith('timestamp')) return `coalesce(${column}, now()) + interval '1 day'`;
  if (type === 'date') return `coalesce(${column}, current_date) + 1`;
  if (type === 'boolean') return `not coalesce(${column}, false)`;
  if (type === 'bytea') return `'\\x01'`;
  if (type === 'jsonb') return `coalesce(${column}, '{}') || '{"forged": 1}'`;
  return `coalesce(${column}, '') || ' forged'`;
};
