import { carrierId } from '@gateway/core/dispatch'
import type { CarrierReport, CarrierStatuses } from '@gateway/core/fleet'
import { memoryPorts, until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { reportCarriers } from './report-carriers.ts'

const process = { id: '0195e9c4-0000-4000-8000-000000000001', host: 'alpha', pid: 11 }
const log = createLog({ level: 'silent', name: 'test' })

const aReport = (unanswered: number): CarrierReport => ({
  ...{ carrier: carrierId('a') ?? failed(), mode: 'running', window: 5, unanswered, status: undefined },
})

function failed(): never {
  throw new Error('no name')
}

/** Records each call, and fails as often as requested. */
function counting(failures = 0) {
  const { carrierStatuses } = memoryPorts()
  const calls: number[] = []
  const counted: CarrierStatuses = {
    ...carrierStatuses,
    tell: (process, reports) => {
      calls.push(reports.length)
      return calls.length <= failures ? Promise.reject(new Error('away')) : carrierStatuses.tell(process, reports)
    },
  }
  return { carrierStatuses: counted, calls }
}

test('changed reports are stored, unchanged ones are not, and a stop removes them', async () => {
  const { carrierStatuses, calls } = counting()
  let looks = 0
  let report = aReport(0)
  const reports = () => (looks++, [report])
  const telling = reportCarriers({ carrierStatuses, process, reports, log, pauseMilliseconds: 1 })
  await until(() => looks > 5)
  expect(calls).toEqual([1])
  report = aReport(3)
  await until(() => calls.length === 2)
  expect(await carrierStatuses.list(60)).toMatchObject([
    { carrier: 'a', unanswered: 3, isStale: false, process: { pid: process.pid } },
  ])
  await telling.stop()
  expect(calls).toEqual([1, 1, 0])
  expect(await carrierStatuses.list(60)).toEqual([])
})

test('a report that could not be stored is stored later', async () => {
  const { carrierStatuses } = counting(1)
  const telling = reportCarriers({ carrierStatuses, process, reports: () => [aReport(1)], log, pauseMilliseconds: 1 })
  await until(async () => (await carrierStatuses.list(60)).length === 1)
  await telling.stop()
})
