import sax from 'sax'

/** Limits of any document (ruling 4.3). */
export const documentLimits = {
  /** Maximum depth of elements. The root has depth 1. */
  depthMax: 16,
  elementsMax: 250_000,
  /**
   * Maximum size of one text node, CDATA section, comment, processing instruction or the whole text of one element, in
   * UTF-8 bytes. For a tag, the maximum is in characters.
   */
  nodeBytesMax: 65_536,
} as const

const bytesOfUnitMax = 3

/** True if a text exceeds the maximum size of a node. */
export const isOverlong = (text: string): boolean =>
  text.length * bytesOfUnitMax > documentLimits.nodeBytesMax && Buffer.byteLength(text) > documentLimits.nodeBytesMax

/** Parser events. A listener may throw `notValid`, too. */
export interface DocumentEvents {
  open(name: string): void
  /** Part of the text of the innermost open element. Called one or more times. */
  text(piece: string): void
  close(): void
}

/** Thrown for an invalid document. It has no details, because no answer has any (spec 7.3). */
export const notValid = new Error('the document is not valid')

export function refuseIf(bad: boolean): void {
  if (bad) throw notValid
}

/** Parser that throws `notValid` as soon as the document is known to be invalid. */
export interface StrictParser {
  write(piece: string): void
  close(): void
}

/**
 * Returns a parser for one document, which is written in slices. It refuses documents that are not well-formed or that
 * ruling 4.3 forbids. sax accepts more than XML even in strict mode: each check here closes one gap. The caller has
 * checked the characters and the XML declaration.
 */
export function strictParser(events: DocumentEvents): StrictParser {
  const options = { strictEntities: true, position: true }
  const parser = sax.parser(true, options)
  const bounds = countElements()
  let textFrom = 0
  let selfClosing = false
  /** Source text since the start of the current text node, for comparisons with the original spelling. */
  let recent = ''
  let recentFrom = 0

  const isSpelled = (markup: string, at = parser.startTagPosition) => recent.startsWith(markup, at - recentFrom)
  const written = (from: number, to: number) => recent.slice(from - recentFrom, to - recentFrom)
  const takeText = (text: string) => {
    checkText(text, written(textFrom, parser.startTagPosition - 1))
    if (bounds.isInRoot()) events.text(text)
  }

  parser.onerror = () => refuseIf(true)
  parser.ondoctype = () => refuseIf(true)
  parser.onsgmldeclaration = () => refuseIf(true)
  parser.onopentagstart = bounds.open
  parser.onattribute = ({ name }) => {
    refuseIf(parser.position - parser.startTagPosition > documentLimits.nodeBytesMax)
    // sax calls `attributes.hasOwnProperty`; an attribute of that name would replace the function.
    refuseIf(name === 'hasOwnProperty')
  }
  parser.onopentag = (tag) => {
    refuseIf(!isSpelled(tag.name)) // such as `< a>`
    checkAttributes(tag, written(parser.startTagPosition, parser.position))
    selfClosing = tag.isSelfClosing
    textFrom = parser.position
    events.open(tag.name)
  }
  parser.onclosetag = (name) => {
    refuseIf(!selfClosing && !(isSpelled('/') && isSpelled(name, parser.startTagPosition + 1))) // such as `</ a>`
    selfClosing = false
    textFrom = parser.position
    bounds.close()
    events.close()
  }
  parser.ontext = takeText
  parser.onopencdata = () => refuseIf(!isSpelled('![CDATA[') || !bounds.isInRoot()) // `<![cdata[`, or outside the root
  parser.oncdata = (text) => {
    refuseIf(isOverlong(text))
    events.text(text)
  }
  parser.onclosecdata = () => void (textFrom = parser.position)
  parser.oncomment = (comment) => {
    refuseIf(!isSpelled('!--') || isOverlong(comment))
    textFrom = parser.position + 1 // sax reports a comment before its `>`
  }
  parser.onprocessinginstruction = ({ name, body }) => {
    refuseIf(!isSpelled(`?${name}`) || !isInstructionName(name) || isOverlong(body))
    textFrom = parser.position
  }
  return {
    write(piece) {
      const from = Math.min(textFrom, parser.position)
      recent = written(from, Infinity) + piece
      recentFrom = from
      parser.write(piece)
      if (!bounds.hasBegun() && recent.trim() === '') textFrom = parser.position
    },
    close: () => void parser.close(),
  }
}

/**
 * Returns functions that check that there is one root and that the number and depth of elements are within the limits.
 */
function countElements() {
  let depth = 0
  let count = 0
  return {
    open: () => {
      refuseIf(depth === 0 && count > 0) // two root elements
      refuseIf(++depth > documentLimits.depthMax || ++count > documentLimits.elementsMax)
    },
    close: () => {
      depth--
    },
    isInRoot: () => depth > 0,
    hasBegun: () => count > 0,
  }
}

/** Refuses references other than XML's own in lower case, and `]]>` outside a CDATA section. */
function checkText(text: string, written: string): void {
  refuseIf(isOverlong(text))
  // A reference is longer than the character it stands for, so equal lengths mean that the text has no reference.
  if (written.length !== text.length) refuseIf(hasForeignReference(written))
  refuseIf(written.includes(']]>'))
}

const hasForeignReference = (written: string): boolean =>
  /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)/.test(written)

/** sax silently drops a second attribute of the same name and accepts `<` in a value. */
function checkAttributes(tag: { readonly name: string; readonly attributes: object }, written: string): void {
  if (written.length <= tag.name.length + '/>'.length) return
  const values = written.match(/"[^"]*"|'[^']*'/g) ?? []
  refuseIf(values.length !== Object.keys(tag.attributes).length)
  refuseIf(values.some((value) => value.includes('<') || hasForeignReference(value)))
}

/** True for the name of a processing instruction. `xml` is reserved for the declaration, which was removed before. */
const isInstructionName = (name: string): boolean =>
  /^[\p{L}_:][\p{L}\p{N}_:.·-]*$/u.test(name) && name.toLowerCase() !== 'xml'
