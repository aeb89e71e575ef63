import fc from 'fast-check'
import { readCodedParts, readCodedText, type CodedText, type Gsm7Text } from './coded-text.ts'

const gsm = (octets: string, more: Partial<Gsm7Text> = {}): CodedText => ({ coding: 'gsm-7', octets, ...more })
const ucs2 = (octets: string): CodedText => ({ coding: 'ucs-2', octets })
const hex = (octets: readonly number[]) => Buffer.from(octets).toString('hex')

/**
 * Annex A of 3GPP TS 23.038. Each entry `code-code=first character` is a run of consecutive characters, in hexadecimal;
 * blanks are left out. Copied from two independent transcriptions (releases 16 and 18) where they agree, otherwise from
 * the table of Android.
 */
const annexA = [
  [
    1,
    'Turkish',
    'locking',
    '0=40 1=a3 2=24 3=a5 4=20ac 5=e9 6=f9 7=131 8=f2 9=c7 a=a b-c=11e d=d e=c5 f=e5 10=394 11=5f 12=3a6 13=393 ' +
      '14=39b 15=3a9 16=3a0 17=3a8 18=3a3 19=398 1a=39e 1c-1d=15e 1e=df 1f=c9 20-23=20 24=a4 25-3f=25 40=130 ' +
      '41-5a=41 5b=c4 5c=d6 5d=d1 5e=dc 5f=a7 60=e7 61-7a=61 7b=e4 7c=f6 7d=f1 7e=fc 7f=e0',
  ],
  [
    1,
    'Turkish',
    'single',
    'a=c 14=5e 28=7b 29=7d 2f=5c 3c=5b 3d=7e 3e=5d 40=7c 47=11e 49=130 53=15e 63=e7 65=20ac 67=11f 69=131 ' + '73=15f',
  ],
  [
    2,
    'Spanish',
    'single',
    '9=e7 a=c 14=5e 28=7b 29=7d 2f=5c 3c=5b 3d=7e 3e=5d 40=7c 41=c1 49=cd 4f=d3 55=da 61=e1 65=20ac 69=ed 6f=f3 ' +
      '75=fa',
  ],
  [
    3,
    'Portuguese',
    'locking',
    '0=40 1=a3 2=24 3=a5 4=ea 5=e9 6=fa 7=ed 8=f3 9=e7 a=a b=d4 c=f4 d=d e=c1 f=e1 10=394 11=5f 12=aa 13=c7 ' +
      '14=c0 15=221e 16=5e 17=5c 18=20ac 19=d3 1a=7c 1c=c2 1d=e2 1e=ca 1f=c9 20-23=20 24=ba 25-3f=25 40=cd ' +
      '41-5a=41 5b=c3 5c=d5 5d=da 5e=dc 5f=a7 60=7e 61-7a=61 7b=e3 7c=f5 7d=60 7e=fc 7f=e0',
  ],
  [
    3,
    'Portuguese',
    'single',
    '5=ea 9=e7 a=c b=d4 c=f4 e=c1 f=e1 12=3a6 13=393 14=5e 15=3a9 16=3a0 17=3a8 18=3a3 19=398 1f=ca 28=7b 29=7d ' +
      '2f=5c 3c=5b 3d=7e 3e=5d 40=7c 41=c0 49=cd 4f=d3 55=da 5b=c3 5c=d5 61=c2 65=20ac 69=ed 6f=f3 75=fa 7b=e3 ' +
      '7c=f5 7f=e2',
  ],
  [
    4,
    'Bengali',
    'locking',
    '0-2=981 3-9=985 a=a b=98c d=d f-10=98f 13-1a=993 1c-1f=99b 20-21=20 22-27=99f 28=29 29=28 2a-2b=9a5 2c=2c ' +
      '2d=9a7 2e=2e 2f=9a8 30-3b=30 3d-3e=9aa 3f=3f 40-44=9ac 46=9b2 4a-4d=9b6 4e-56=9bc 59-5a=9c7 5d-60=9cb ' +
      '61-7a=61 7b=9d7 7c-7d=9dc 7e-7f=9f0',
  ],
  [
    4,
    'Bengali',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 19-1a=9e6 1c-23=9e8 24-27=9df 28=7b 29=7d 2a=9e3 2b-2e=9f2 2f=5c 30-34=9f6 3c=5b 3d=7e 3e=5d 40=7c ' +
      '41-5a=41 65=20ac',
  ],
  [
    5,
    'Gujarati',
    'locking',
    '0-2=a81 3-9=a85 a=a b-c=a8c d=d f-11=a8f 13-1a=a93 1c-1f=a9b 20-21=20 22-27=a9f 28=29 29=28 2a-2b=aa5 ' +
      '2c=2c 2d=aa7 2e=2e 2f=aa8 30-3b=30 3d-3e=aaa 3f=3f 40-44=aac 46-47=ab2 49-4d=ab5 4e-57=abc 59-5b=ac7 ' +
      '5d-5f=acb 60=ad0 61-7a=61 7b-7e=ae0 7f=af1',
  ],
  [
    5,
    'Gujarati',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 19-1a=964 1c-25=ae6 28=7b 29=7d 2f=5c 3c=5b 3d=7e 3e=5d 40=7c 41-5a=41 65=20ac',
  ],
  [
    6,
    'Hindi',
    'locking',
    '0-2=901 3-9=905 a=a b-c=90c d=d e-1a=90e 1c-1f=91b 20-21=20 22-27=91f 28=29 29=28 2a-2b=925 2c=2c 2d=927 ' +
      '2e=2e 2f=928 30-3b=30 3c-3e=929 3f=3f 40-4d=92c 4e-5f=93c 60=950 61-7a=61 7b=972 7c-7d=97b 7e-7f=97e',
  ],
  [
    6,
    'Hindi',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 19-1a=964 1c-25=966 26-27=951 28=7b 29=7d 2a-2b=953 2c-2e=958 2f=5c 30-38=95b 39-3a=970 3c=5b 3d=7e ' +
      '3e=5d 40=7c 41-5a=41 65=20ac',
  ],
  [
    7,
    'Kannada',
    'locking',
    '1-2=c82 3-9=c85 a=a b=c8c d=d e-10=c8e 12-1a=c92 1c-1f=c9b 20-21=20 22-27=c9f 28=29 29=28 2a-2b=ca5 2c=2c ' +
      '2d=ca7 2e=2e 2f=ca8 30-3b=30 3d-3e=caa 3f=3f 40-47=cac 49-4d=cb5 4e-56=cbc 58-5a=cc6 5c-5f=cca 60=cd5 ' +
      '61-7a=61 7b=cd6 7c-7f=ce0',
  ],
  [
    7,
    'Kannada',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 19-1a=964 1c-25=ce6 26=cde 27=cf1 28=7b 29=7d 2a=cf2 2f=5c 3c=5b 3d=7e 3e=5d 40=7c 41-5a=41 65=20ac',
  ],
  [
    8,
    'Malayalam',
    'locking',
    '1-2=d02 3-9=d05 a=a b=d0c d=d e-10=d0e 12-1a=d12 1c-1f=d1b 20-21=20 22-27=d1f 28=29 29=28 2a-2b=d25 2c=2c ' +
      '2d=d27 2e=2e 2f=d28 30-3b=30 3d-3e=d2a 3f=3f 40-4d=d2c 4f-56=d3d 58-5a=d46 5c-5f=d4a 60=d57 61-7a=61 ' +
      '7b-7e=d60 7f=d79',
  ],
  [
    8,
    'Malayalam',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 19-1a=964 1c-27=d66 28=7b 29=7d 2a-2d=d72 2e=d7a 2f=5c 30-34=d7b 3c=5b 3d=7e 3e=5d 40=7c 41-5a=41 ' +
      '65=20ac',
  ],
  [
    9,
    'Oriya',
    'locking',
    '0-2=b01 3-9=b05 a=a b=b0c d=d f-10=b0f 13-1a=b13 1c-1f=b1b 20-21=20 22-27=b1f 28=29 29=28 2a-2b=b25 2c=2c ' +
      '2d=b27 2e=2e 2f=b28 30-3b=30 3d-3e=b2a 3f=3f 40-44=b2c 46-47=b32 49-4d=b35 4e-56=b3c 59-5a=b47 5d-5f=b4b ' +
      '60=b56 61-7a=61 7b=b57 7c-7f=b60',
  ],
  [
    9,
    'Oriya',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 19-1a=964 1c-25=b66 26-27=b5c 28=7b 29=7d 2a=b5f 2b-2c=b70 2f=5c 3c=5b 3d=7e 3e=5d 40=7c 41-5a=41 ' +
      '65=20ac',
  ],
  [
    10,
    'Punjabi',
    'locking',
    '0-2=a01 3-8=a05 a=a d=d f-10=a0f 13-1a=a13 1c-1f=a1b 20-21=20 22-27=a1f 28=29 29=28 2a-2b=a25 2c=2c 2d=a27 ' +
      '2e=2e 2f=a28 30-3b=30 3d-3e=a2a 3f=3f 40-44=a2c 46-47=a32 49-4a=a35 4c-4d=a38 4e=a3c 50-54=a3e 59-5a=a47 ' +
      '5d-5f=a4b 60=a51 61-7a=61 7b-7f=a70',
  ],
  [
    10,
    'Punjabi',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 19-1a=964 1c-25=a66 26-27=a59 28=7b 29=7d 2a-2b=a5b 2c=a5e 2d=a75 2f=5c 3c=5b 3d=7e 3e=5d 40=7c ' +
      '41-5a=41 65=20ac',
  ],
  [
    11,
    'Tamil',
    'locking',
    '1-2=b82 3-8=b85 a=a d=d e-10=b8e 12-15=b92 19-1a=b99 1d=b9c 1f=b9e 20-21=20 22=b9f 26-27=ba3 28=29 29=28 ' +
      '2c=2c 2e=2e 2f=ba8 30-3b=30 3c-3d=ba9 3f=3f 42-4d=bae 50-54=bbe 58-5a=bc6 5c-5f=bca 60=bd0 61-7a=61 7b=bd7 ' +
      '7c-7e=bf0 7f=bf9',
  ],
  [
    11,
    'Tamil',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 19-1a=964 1c-25=be6 26-27=bf3 28=7b 29=7d 2a-2d=bf5 2e=bfa 2f=5c 3c=5b 3d=7e 3e=5d 40=7c 41-5a=41 ' +
      '65=20ac',
  ],
  [
    12,
    'Telugu',
    'locking',
    '0-2=c01 3-9=c05 a=a b=c0c d=d e-10=c0e 12-1a=c12 1c-1f=c1b 20-21=20 22-27=c1f 28=29 29=28 2a-2b=c25 2c=2c ' +
      '2d=c27 2e=2e 2f=c28 30-3b=30 3d-3e=c2a 3f=3f 40-47=c2c 49-4d=c35 4f-56=c3d 58-5a=c46 5c-5f=c4a 60=c55 ' +
      '61-7a=61 7b=c56 7c-7f=c60',
  ],
  [
    12,
    'Telugu',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 1c-25=c66 26-27=c58 28=7b 29=7d 2a-2e=c78 2f=5c 30-32=c7d 3c=5b 3d=7e 3e=5d 40=7c 41-5a=41 65=20ac',
  ],
  [
    13,
    'Urdu',
    'locking',
    '0=627 1=622 2=628 3=67b 4=680 5=67e 6=6a6 7=62a 8=6c2 9=67f a=a b=679 c=67d d=d e=67a f=67c 10-11=62b ' +
      '12=681 13=684 14=683 15-17=685 18-1a=62d 1c=68c 1d-1f=688 20-21=20 22=68f 23=68d 24-25=630 26=691 27=693 ' +
      '28=29 29=28 2a=699 2b=632 2c=2c 2d=696 2e=2e 2f=698 30-3b=30 3c=69a 3d-3e=633 3f=3f 40-44=635 45-46=641 ' +
      '47-49=6a9 4a=6af 4b=6b3 4c=6b1 4d-4f=644 50-52=6ba 53=648 54=6c4 55=6d5 56=6c1 57=6be 58=621 59=6cc 5a=6d0 ' +
      '5b=6d2 5c=64d 5d=650 5e=64f 5f=657 60=654 61-7a=61 7b=655 7c=651 7d=653 7e=656 7f=670',
  ],
  [
    13,
    'Urdu',
    'single',
    '0=40 1=a3 2=24 3=a5 4=bf 5=22 6=a4 7-9=25 a=c b-c=2a e=2d f=2f 10-12=3c 13=a1 14=5e 15=a1 16=5f 17=23 ' +
      '18=2a 19-1a=600 1c-25=6f0 26-27=60c 28=7b 29=7d 2a-2e=60e 2f=5c 30-31=613 32=61b 33=61f 34=640 35=652 ' +
      '36=658 37-38=66b 39-3a=672 3b=6cd 3c=5b 3d=7e 3e=5d 3f=6d4 40=7c 41-5a=41 65=20ac',
  ],
] as const

const runs = (text: string): ReadonlyMap<number, string> =>
  new Map(
    text.split(' ').flatMap((run) => {
      const [codes = '', character = ''] = run.split('=')
      const [from = 0, to = from] = codes.split('-').map((code) => Number.parseInt(code, 16))
      const first = Number.parseInt(character, 16)
      return Array.from({ length: to - from + 1 }, (_, at) => [from + at, String.fromCharCode(first + at)] as const)
    }),
  )

const latin = runs('20-23=20 25-3f=25 41-5a=41 61-7a=61')

test.each(annexA)('national language %i, %s: %s', (language, _name, kind, text) => {
  const table = runs(text)
  for (let code = 0; code < 128; code++) {
    if (code === 0x1b) continue
    if (kind === 'locking') {
      const read = readCodedText(gsm(hex([code]), { locking: language }))
      expect([code, read]).toEqual([code, table.get(code) ?? ' '])
    } else {
      const read = readCodedText(gsm(hex([0x1b, code]), { single: language }))
      const inDefault = readCodedText(gsm(hex([code])))
      expect([code, read]).toEqual([code, table.get(code) ?? inDefault])
    }
  }
})

test.each([
  ['07', {}, 'ì'],
  ['07', { locking: 1 }, 'ı'],
  ['1b65', { locking: 1 }, '€'],
  ['1b69', { single: 1 }, 'ı'],
  ['1b55', { single: 2 }, 'Ú'],
  ['0b1b0b', { locking: 3, single: 3 }, 'ÔÔ'],
  ['07', { locking: 2 }, 'ì'],
  ['071b65', { locking: 14, single: 200 }, 'ì€'],
  ['1b41', {}, 'A'],
  ['1b1b', {}, ' '],
  ['411b', {}, 'A'],
  ['41e9', {}, 'Aé'],
] as const)('GSM 7-bit %s with %j is %j', (octets, tables, text) =>
  expect(readCodedText(gsm(octets, tables))).toBe(text),
)

test.each([
  ['041f', 'П'],
  ['feff041f', 'П'],
  ['fffe1f04', 'П'],
  ['00530054004f00500000', 'STOP'],
  ['fffe53000000', 'S'],
  ['041f04', 'П'],
  ['041ffeff', 'П\ufeff'],
  ['d83dde00', '😀'],
  ['feff', ''],
  ['', ''],
])('UCS-2 %s is %j', (octets, text) => expect(readCodedText(ucs2(octets))).toBe(text))

test('an escape is joined with the first character of the next part, in the tables of that part', () => {
  expect(readCodedParts([gsm('1b'), gsm('65')])).toEqual(['', '€'])
  expect(readCodedParts([gsm('1b'), gsm('69', { single: 1 })])).toEqual(['', 'ı'])
  expect(readCodedParts([gsm('1b'), gsm('1b65')])).toEqual(['', ' e'])
  expect(readCodedParts([gsm('1b'), undefined, gsm('65')])).toEqual(['', '', 'e'])
  expect(readCodedParts([ucs2('fffe4100'), ucs2('4200'), ucs2('feff0043')])).toEqual(['A', 'B', 'C'])
})

test('the text is the same however its septets are divided into parts', () => {
  const septets = fc.array(fc.integer({ min: 0, max: 127 }), { maxLength: 60 })
  const tables = fc.record({ locking: fc.nat({ max: 14 }), single: fc.nat({ max: 14 }) })
  fc.assert(
    fc.property(septets, fc.array(fc.nat({ max: 60 }), { maxLength: 5 }), tables, (all, cuts, named) => {
      const ends = [...cuts.map((cut) => Math.min(cut, all.length)).toSorted((a, b) => a - b), all.length]
      const parts = ends.map((end, at) => gsm(hex(all.slice(ends[at - 1] ?? 0, end)), named))
      expect(readCodedParts(parts).join('')).toBe(readCodedText(gsm(hex(all), named)))
    }),
  )
})

test('ASCII letters and digits keep their codes in European locking tables, and small letters and digits in all tables', () => {
  for (const [code, character] of latin) {
    for (const locking of [1, 2, 3]) expect(readCodedText(gsm(hex([code]), { locking }))).toBe(character)
    const isShared = /[a-z0-9]/.test(character)
    for (let locking = 4; isShared && locking < 14; locking++)
      expect(readCodedText(gsm(hex([code]), { locking }))).toBe(character)
  }
})
