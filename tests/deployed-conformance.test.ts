import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { coveredElsewhere, everyCase, runConformance, textReport } from '@gateway/conformance'
import { prepared, replyBy, replyServer, runSuite } from './support/conformance.ts'
import { freePorts } from './support/free-ports.ts'
import { startAllInOne, startFiveProcesses } from './support/gateways.ts'
import { inTurn } from './support/in-turn.ts'
import { commandLineOf } from './support/operate.ts'
import { killLeftovers, startApp, startWhatIsShipped } from './support/process.ts'

startWhatIsShipped()
afterAll(killLeftovers)

async function allInOnePasses(): Promise<void> {
  const [smppPort = 0] = await freePorts(1)
  const gateway = await startAllInOne({ SMPP_PORT: String(smppPort) })
  const operate = commandLineOf(gateway.environment)
  const replies = await replyServer(operate)
  try {
    const configuration = { ...(await prepared(operate, smppPort)), replies: replies.configuration }
    const [file, junit] = [join(gateway.folder, 'conformance.json'), join(gateway.folder, 'junit.xml')]
    await writeFile(file, JSON.stringify(configuration))
    const args = ['--base-url', gateway.restUrl, '--config', file, '--junit', junit, '--json']
    const { code, out, err } = await runSuite(args, gateway.environment)
    expect([code, err.match(/^failed.*/gm)]).toEqual([0, null])
    const report = JSON.parse(out) as { passed: number; creditsSpent: number }
    expect(report).toMatchObject({ failed: 0, 'not testable': 2, passed: everyCase.length - 2 })
    const creditsAnnounced = Number(/for (\d+) credits/.exec(err)?.[1])
    expect(report.creditsSpent).toBeGreaterThan(0)
    expect(report.creditsSpent).toBeLessThanOrEqual(creditsAnnounced)
    const elsewhere = coveredElsewhere.length
    expect(await readFile(junit, 'utf8')).toContain(
      `tests="${everyCase.length + elsewhere}" failures="0" skipped="${2 + elsewhere}"`,
    )
  } finally {
    await replies.close()
    await gateway.stop()
  }
}

async function fiveProcessesPass(): Promise<void> {
  const origin = 'https://app.example.com'
  const [smppPort = 0] = await freePorts(1)
  const gateway = await startFiveProcesses({ CORS_ORIGINS: origin })
  const smpp = await startApp('smpp', { ...gateway.environment, SMPP_PORT: String(smppPort) })
  const operate = commandLineOf(gateway.environment)
  try {
    const configuration = { ...(await prepared(operate, smppPort)), corsOrigin: origin }
    const addresses = { rest: new URL(gateway.restUrl), asp: new URL(gateway.aspUrl), xml: new URL(gateway.xmlUrl) }
    const summary = await runConformance({ addresses, configuration, bringReply: replyBy(operate) })
    const failed = summary.results.filter(({ outcome }) => outcome.is === 'failed')
    expect(failed.length === 0 ? '' : textReport(summary)).toBe('')
    expect(summary.results.filter(({ outcome }) => outcome.is === 'not testable').map((one) => one.case.title)).toEqual(
      ['a key that is expired is answered like a wrong one, on every interface'],
    )
  } finally {
    await smpp.stop()
    await gateway.stop()
  }
}

test.each(
  inTurn([
    [
      'the all-in-one passes every case, by the command, and spends at most the credits that the command announces',
      allInOnePasses,
    ],
    ['rest, asp, xml and two dispatchers as processes of their own pass every case', fiveProcessesPass],
  ] as const),
)('%s', (_title, passes) => passes(), 300_000)
