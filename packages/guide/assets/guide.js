// Search over an index that is fetched when the reader starts to type. Pages are complete without scripts.
const base = document.documentElement.dataset.base ?? './'
const input = document.querySelector('input[type=search]')
const list = document.querySelector('search ol')
const contents = document.querySelector('nav details')

// Show the table of contents beside the page if there is room, and collapsed on a phone.
const wide = matchMedia('(min-width: 60rem)')
const showContents = () => (contents.open = wide.matches)
wide.addEventListener('change', showContents)
showContents()

let search
const load = () =>
  (search ??= Promise.all([
    import('./minisearch.js'),
    fetch(`${base}search.json`).then((answer) => answer.json()),
  ]).then(([{ default: MiniSearch }, sections]) => {
    const found = new MiniSearch({
      fields: ['heading', 'page', 'text'],
      storeFields: ['heading', 'page', 'text'],
      searchOptions: { boost: { heading: 6, page: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
    })
    found.addAll(sections)
    return found
  }))

const element = (name, text) => Object.assign(document.createElement(name), { textContent: text })

function excerpt(text, terms) {
  const at = Math.max(0, Math.min(...terms.map((term) => text.toLowerCase().indexOf(term)).filter((each) => each >= 0)))
  return text.slice(Math.max(0, (Number.isFinite(at) ? at : 0) - 40)).slice(0, 140)
}

async function show() {
  const query = input.value.trim()
  const found = query === '' ? [] : (await load()).search(query).slice(0, 12)
  if (input.value.trim() !== query) return
  list.hidden = query === ''
  list.replaceChildren(
    ...found.map(({ id, heading, page, text, terms }) => {
      const link = Object.assign(document.createElement('a'), { href: base + id })
      link.append(element('b', heading === page ? page : `${page}: ${heading}`), element('span', excerpt(text, terms)))
      const item = document.createElement('li')
      item.append(link)
      return item
    }),
    ...(found.length === 0 ? [element('li', 'No page has all of these words.')] : []),
  )
}

input.addEventListener('focus', load)
input.addEventListener('input', show)
document.addEventListener('keydown', (event) => {
  const isTyping = document.activeElement === input
  if (event.key === '/' && !isTyping) {
    event.preventDefault()
    input.focus()
  } else if (event.key === 'Escape') {
    input.value = ''
    list.hidden = true
  } else if (event.key === 'Enter' && isTyping) list.querySelector('a')?.click()
  else if (event.key === 'ArrowDown' && isTyping) list.querySelector('a')?.focus()
})
