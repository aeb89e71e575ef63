import { optKeywordOf } from './opt-keyword.ts'

describe('texts that opt out (ruling 1.21)', () => {
  test.each([
    ...['Stop', 'stop', 'STOP', 'sToP', 'End', 'CANCEL', 'Unsubscribe', 'quit'],
    ...['stop ', ' stop', '\n\tstop\r\n', '\u00a0stop\u00a0'],
    ...['Stop sending me this', 'stop send', 'STOP SENDER', 'stop sendmail'],
    ...[
      'opt out',
      'Opt out of this',
      'OPT OUT',
      'opt-out',
      'opt.out now',
      'OPT😀OUT',
      'optXout',
      'opt\nout',
      'opt\tout',
    ],
    ...['opt_outside', '  Opt/out  '],
  ])('%j', (text) => expect(optKeywordOf(text)).toBe('opt-out'))
})

describe('near misses are ordinary replies', () => {
  test.each([
    ...['', ' ', 'stopping', 'please stop', 'STOP.', 'stop!', '"stop"', 'stop it', 'st op', 'stop stop', 'stop\u200b'],
    ...['ending', 'the end', 'cancelled', 'unsubscribe me', 'quit it', 'stops', 'end.'],
    ...['stopsend', 'stop  send', 'stop-send', 'dont stop send'],
    ...['optout', 'opt  out', 'opt--out', 'opt', 'out', 'opt ou', 'opt👩‍👧out', 'adopt out', 'please opt out'],
    ...['ſtop', 'QUİT', 'quıt', 'CANCEL\u0131', 'UNSUBSCRİBE', 'ＳＴＯＰ', 'стоп'],
  ])('%j', (text) => expect(optKeywordOf(text)).toBeUndefined())
})

describe('texts that opt in again (ruling 1.22)', () => {
  test.each(['start', 'START', ' Start ', 'unstop', 'UnStop\n'])('%j', (text) =>
    expect(optKeywordOf(text)).toBe('opt-in'),
  )
  test.each(['starting', 'start.', 'please start', 'un stop', 'start start', 'restart', 'ſtart'])(
    '%j does not',
    (text) => expect(optKeywordOf(text)).toBeUndefined(),
  )
})
