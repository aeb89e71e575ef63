import { digestOf, migrations } from './migrations.ts'

/**
 * Databases were made from these texts: a released one never changes, the next migration corrects it. Only the baseline
 * may change, with its digest here, until version 0.2.0 is made.
 */
const digests: Readonly<Record<string, string>> = {
  '1 baseline': '486ff2cf4bb601c10e3b35bd1096e7b02f66be79c8d5c8d7670ca3fd5d7e9684',
}

test('the texts of migrations are those that databases were made from', () => {
  expect(Object.fromEntries(migrations.map((each) => [`${each.version} ${each.name}`, digestOf(each)]))).toEqual(
    digests,
  )
})

test('migrations count from 1 without a gap', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
})
