import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../test/engines/schema.ts';

test('a scalar names its specification, unless it is opaque', () => {
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type),
  );
  const unspecified = scalars.filter(
    (scalar) => !(isScalarType(scalar) && scalar.specifiedByURL?.startsWith('https://')),
  );
  expect(unspecified.map(({ name }) => name)).toEqual(['Cursor']);
});

test.each(['2026-11-21T10:15:00.5Z', '2026-11-21t10:15:00.500z', '2026-11-21T12:15:00.5+02:00'])(
  'a DateTime may be sent as %s',
  (text) => {
    const type = schema.getType('DateTime');
    expect(isScalarType(type) && type.coerceInputValue(text)).toBe('2026-11-21T10:15:00.500Z');
  },
);

test.each(['2026-11-21', '2026-11-21 10:15:00Z', '2026-13-01T00:00:00Z', '9999-12-31T23:00:00-02:00', 5])(
  'a DateTime is not %s',
  (value) => {
    const type = schema.getType('DateTime');
    expect(() => isScalarType(type) && type.coerceInputValue(value)).toThrow('RFC 3339');
  },
);

test('everything in the schema has a description', () => {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  const members = types.flatMap((type) => {
    const within = isEnumType(type)
      ? type.getValues()
      : isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
        ? Object.values(type.getFields())
        : [];
    return [{ name: type.name, description: type.description }].concat(
      within.map(({ name, description }) => ({ name: `${type.name}.${name}`, description })),
    );
  });
  expect(members.filter(({ description }) => !description).map(({ name }) => name)).toEqual([]);
});
