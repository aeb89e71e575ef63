import { digestOf, migrations } from './migrations.ts'

/**
 * Databases were made from these texts: a released one never changes, the next migration corrects it. Only the baseline
 * may change, with its digest here, until version 0.2.0 is made.
 */
const digests: Readonly<Record<string, string>> = {
  '1 baseline': '4854a17eef0740e9d9716df178d8475b670a542df7446b6da10f538a6f7f3a32',
}

test('the texts of migrations are those that databases were made from', () => {
  expect(Object.fromEntries(migrations.map((each) => [`${each.version} ${each.name}`, digestOf(each)]))).toEqual(
    digests,
  )
})

test('migrations count from 1 without a gap', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
})
