import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstCertificate, firstEnds, secondCertificate, secondEnds } from '../testing/certificates.ts'
import { memoryLog } from '../testing/memory-log.ts'
import { until } from '../testing/until.ts'
import { createMetrics } from './metrics.ts'
import { extraAuthorities, watchCertificates, type ConfiguredCertificates } from './watch-certificates.ts'

const day = 86_400_000
const both = `a comment\n${secondCertificate}${firstCertificate}`

function watched(certificates: readonly ConfiguredCertificates[], now: number, everyMilliseconds = day) {
  const { log, lines } = memoryLog()
  const metrics = createMetrics()
  const clock = { now }
  const { stop } = watchCertificates({
    certificates: () => certificates,
    log,
    metrics,
    now: () => clock.now,
    everyMilliseconds,
  })
  const measured = async () =>
    (await metrics.registry.getSingleMetricAsString('gateway_certificate_remaining_seconds'))
      .split('\n')
      .filter((line) => line.startsWith('gateway'))
  return { lines, clock, measured, stop }
}

test.each([
  [14 * day + 1, undefined],
  [14 * day - 1, { level: 'warn', days: 13, msg: 'a certificate expires soon' }],
  [1, { level: 'warn', days: 0, msg: 'a certificate expires soon' }],
  [0, { level: 'error', msg: 'a certificate has expired' }],
  [-100 * day, { level: 'error', msg: 'a certificate has expired' }],
])('%d ms before the expiry a start logs %j', (before, line) => {
  const { lines, stop } = watched(
    [{ of: 'carrier mtn cert', are: 'chain' as const, pem: firstCertificate }],
    firstEnds - before,
  )
  stop()
  const of = {
    certificate: 'carrier mtn cert',
    subject: 'O=Example, CN=first',
    ends: new Date(firstEnds).toISOString(),
  }
  expect(lines()).toMatchObject(line === undefined ? [] : [{ ...of, ...line }])
})

test('of a chain the first expiry counts, of authorities the last, whatever else the file contains', async () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  const { lines, measured, stop } = watched(
    [
      { of: 'database sslcert', are: 'chain', pem: both },
      { of: 'database sslrootcert', are: 'authorities', pem: both },
      { of: 'carrier b ca', are: 'authorities', pem: 'no certificate' },
      { of: 'carrier b cert', are: 'chain', pem: broken },
    ],
    firstEnds + 1000,
  )
  stop()
  expect(lines()).toMatchObject([{ certificate: 'database sslcert', msg: 'a certificate has expired' }])
  expect(await measured()).toEqual([
    'gateway_certificate_remaining_seconds{certificate="database sslcert"} -1',
    `gateway_certificate_remaining_seconds{certificate="database sslrootcert"} ${(secondEnds - firstEnds) / 1000 - 1}`,
  ])
})

test('the warning is repeated after a day, for the certificates of that moment', async () => {
  const certificates = [{ of: 'carrier mtn cert', are: 'chain' as const, pem: secondCertificate }]
  const { lines, clock, stop } = watched(certificates, secondEnds - 20 * day, 5)
  expect(lines()).toEqual([])
  clock.now = secondEnds - 3 * day
  await until(() => lines().length > 0)
  expect(lines()[0]).toMatchObject({ days: 3, certificate: 'carrier mtn cert' })
  certificates.pop()
  const lineCount = lines().length
  stop()
  expect(lines()).toHaveLength(lineCount)
})

test('the file of NODE_EXTRA_CA_CERTS is watched, if there is one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-authorities-'))
  try {
    writeFileSync(join(folder, 'ca.pem'), both)
    expect(extraAuthorities(join(folder, 'ca.pem'))).toEqual([
      { of: 'NODE_EXTRA_CA_CERTS', are: 'authorities', pem: both },
    ])
    expect([extraAuthorities(''), extraAuthorities(join(folder, 'none.pem'))]).toEqual([[], []])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
