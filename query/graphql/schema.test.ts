import { isEnumType, isInputObjectType, isInterfaceType, isIntrospectionType, isObjectType, isSpecifiedScalarType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from './schema.ts';

test('everything in the schema says what it is', () => {
  const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));
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
