import { digestOf, migrations } from './migrations.ts'

/**
 * Digests of the migrations. A released text never changes, because databases were made from it; the next migration
 * corrects it. The baseline has the digest of its text in 0.2.0.
 */
const digests: Readonly<Record<string, string>> = {
  '1 baseline': '0a744937623015d50c453e0823f97c6dc3b6e0cdcf8846586b2678f1ec5bdf34',
  '2 route-overflow': 'b684ac6ecd9d591c1315af60b2d42be4f883938002c3ccd3fedc15a3c9cacec4',
  '3 promotions': '620c5d6281fe0b81b6ff69d858c499f05db2eec23fdccd3549684c758749f698',
  '4 ledger-by-time': '052a8d8dabee47c9572e780958b731b0d8cc2d24988023587bfea1bf88e9eb7e',
  '5 failed-over-sends': '37f4ad532b24b44fedc4ddb5c2e7939f912afb5387f1677881e4ec6797737379',
  '6 send-options': '992d405ba4ce6021ac757412b3b68ba3155799646f302fb1ac50fb826d023027',
  '7 provider-outcomes': '2788aa84f95819285256f8302140a804526234bcf9e1d1fb44a776608b8141d6',
  '8 smpp-customers': '630b57721e58725a281052053b26d4387e3fce303a9ec206656014fda0c9f1c5',
  '9 bulk-send-options': '1250acc6123968075678f1c54dd3208709d4b0f0057507c47d1d854022b2d941',
  '10 calling-codes': '43dbb098fc0ee3d064bd1b1a341c3920ced0f847920c4e8c34b5640c7d1fefa6',
}

test('the texts of migrations are those that databases were made from', () => {
  expect(Object.fromEntries(migrations.map((each) => [`${each.version} ${each.name}`, digestOf(each)]))).toEqual(
    digests,
  )
})

test('migrations count from 1 without a gap', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
})
