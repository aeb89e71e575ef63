import { digestOf, migrations } from './migrations.ts'

/**
 * Databases were made from these texts: a released one never changes, the next migration corrects it. Only the baseline
 * may change, with its digest here, until version 0.2.0 is made.
 */
const digests: Readonly<Record<string, string>> = {
  '1 baseline': '702d4028171e74900f4cdd4f9fe1b60338e02312a02ca34226723bfd79abf61c',
}

test('the texts of migrations are those that databases were made from', () => {
  expect(Object.fromEntries(migrations.map((each) => [`${each.version} ${each.name}`, digestOf(each)]))).toEqual(
    digests,
  )
})

test('migrations count from 1 without a gap', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
})
