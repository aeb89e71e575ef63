import { COMMAND_STATUS } from '@gateway/smpp'
import { errorClasses, errorClassOf } from './settings.ts'

// Errors that are not final, as listed in docs/carriers.md, "Errors of a carrier".
const NOT_FINAL: Readonly<Record<string, string>> = {
  ...{ ESME_RSYSERR: 'for-now', ESME_RX_T_APPN: 'for-now' },
  ...{ ESME_RTHROTTLED: 'throttle', ESME_RMSGQFUL: 'throttle' },
  ...{ ESME_RINVBNDSTS: 'link', ESME_RALYBND: 'link', ESME_RBINDFAIL: 'link' },
  ...{ ESME_RINVPASWD: 'link', ESME_RINVSYSID: 'link', ESME_RINVSYSTYP: 'link' },
}

test('every error of the standard has its class, and a carrier-specific one is final', () => {
  const { ESME_ROK: _, ...errors } = COMMAND_STATUS
  for (const [name, status] of Object.entries(errors)) {
    expect([name, errorClassOf(status, new Map())]).toEqual([name, NOT_FINAL[name] ?? 'final'])
  }
  expect([0x400, 0x4ff, 0xffffffff].map((status) => errorClassOf(status, new Map()))).toEqual(Array(3).fill('final'))
})

test('a configured class replaces the class of that error only', () => {
  for (const is of errorClasses) {
    expect(errorClassOf(COMMAND_STATUS.ESME_RTHROTTLED, new Map([[COMMAND_STATUS.ESME_RTHROTTLED, is]]))).toBe(is)
    expect(errorClassOf(COMMAND_STATUS.ESME_RSYSERR, new Map([[COMMAND_STATUS.ESME_RTHROTTLED, is]]))).toBe('for-now')
  }
})
