import { noTlvs, pduReader, pduWriter, type SubmitSm } from '@gateway/smpp'
import smpp from 'smpp'
import type { Benchmark } from '../benchmark.ts'
import { inRounds } from '../environment/rounds.ts'
import type { Figure } from '../figures/figure.ts'

const shortMessage = Buffer.from('Your appointment is on Tuesday at 10:00. Reply STOP to opt out.')

const submit: SubmitSm = {
  command: 'submit_sm',
  ...{ status: 0, sequence: 7, serviceType: '', sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '12025550100' },
  ...{ destAddrTon: 1, destAddrNpi: 1, destinationAddr: '27825550101', esmClass: 0, protocolId: 0, priorityFlag: 0 },
  ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0 },
  ...{ smDefaultMsgId: 0, shortMessage, tlvs: noTlvs },
}

const fields = {
  ...{ sequence_number: 7, source_addr_ton: 1, source_addr_npi: 1, source_addr: '12025550100', dest_addr_ton: 1 },
  ...{ dest_addr_npi: 1, destination_addr: '27825550101', registered_delivery: 1, short_message: shortMessage },
}

/** PDUs of one write: as many as a window holds. */
const window = 50

/** SMPP codec compared with the npm package `smpp`: CPU time to encode and decode one submit_sm. */
export const smppCodec: Benchmark = {
  name: 'smpp-codec',
  title: 'encoding and decoding submit_sm beside the npm package smpp',
  goals: [],
  runs: 'in full runs',
  run: async ({ quick }) => {
    const count = quick ? 50_000 : 200_000
    const { block, one } = bytesOfBoth()
    const costs = await inRounds(5, {
      encode: () => cpuEach(count, encode),
      encodeNpm: () =>
        cpuEach(count / 10, (times) => repeat(times, () => new smpp.PDU('submit_sm', { ...fields }).toBuffer())),
      decode: () => cpuEach(count, (times) => decode(times, block)),
      decodeNpm: () => cpuEach(count / 10, (times) => repeat(times, () => new smpp.PDU(one))),
    })
    return {
      figures: [
        beside('encode', costs.encodeNpm, costs.encode),
        beside('decode', costs.decodeNpm, costs.decode),
        { name: 'encode', unit: 'ns', rounds: costs.encode, better: 'less' },
        { name: 'decode', unit: 'ns', rounds: costs.decode, better: 'less' },
        { name: 'encode, npm smpp', unit: 'ns', rounds: costs.encodeNpm },
        { name: 'decode, npm smpp', unit: 'ns', rounds: costs.decodeNpm },
      ],
      notes: ['Both give the same bytes. CPU of this process, one submit_sm of 63 characters.'],
    }
  },
}

const beside = (label: string, npmCosts: readonly number[], ours: readonly number[]): Figure => ({
  name: `${label}: times as fast as npm smpp`,
  unit: '',
  rounds: ours.map((cost, round) => (npmCosts[round] ?? NaN) / cost),
  better: 'more',
  goal: { row: 'scale', is: 'at least', value: 15 },
})

/** Throws an error if the two codecs produce different bytes. */
function bytesOfBoth(): { block: Buffer; one: Buffer } {
  const writer = pduWriter()
  repeat(window, () => writer.write(submit))
  const block = writer.take()
  const one = new smpp.PDU('submit_sm', { ...fields }).toBuffer()
  if (!one.equals(block.subarray(0, block.length / window))) throw new Error('the two codecs do not agree')
  return { block, one }
}

function encode(times: number): void {
  const writer = pduWriter()
  for (let time = 1; time <= times; time++) {
    writer.write(submit)
    if (time % window === 0) writer.take()
  }
}

function decode(times: number, block: Buffer): void {
  const reader = pduReader()
  repeat(times / window, () => reader.read(block))
}

function repeat(times: number, work: () => unknown): void {
  for (let time = 0; time < times; time++) work()
}

/** Returns the CPU time of one of `count` units of work, in nanoseconds. */
function cpuEach(count: number, work: (count: number) => void): Promise<number> {
  const before = process.cpuUsage()
  work(count)
  const { user, system } = process.cpuUsage(before)
  return Promise.resolve(((user + system) * 1000) / count)
}
