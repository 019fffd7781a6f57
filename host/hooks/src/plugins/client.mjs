// What all plugins share: a report to the host of this run, and its decision. `DIALECT` stands before.
import net from "node:net"

const REFUSED = "acp-chain: no decision, refused"

function decide(event, report) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(process.env.ACP_CHAIN_HOOK_SOCKET)
    const parts = []
    socket.on("error", reject)
    socket.on("data", (part) => parts.push(part))
    socket.on("close", () => {
      const answer = Buffer.concat(parts)
      const end = answer.indexOf(10)
      const [code, length] = answer.subarray(0, Math.max(end, 0)).toString().split(" ").map(Number)
      const text = answer.subarray(end + 1, end + 1 + length)
      if (end < 0 || code !== 0 || text.length !== length) return reject(new Error(REFUSED))
      try {
        resolve(length ? JSON.parse(text.toString()) : {})
      } catch (error) {
        reject(error)
      }
    })
    const body = Buffer.from(JSON.stringify(report))
    socket.write(`${process.env.ACP_CHAIN_HOOK_TOKEN} ${DIALECT} ${event} ${body.length}\n`)
    socket.write(body)
  })
}

// Puts the members of one object in the place of those of another, which the agent holds.
function replace(held, members) {
  for (const name of Object.keys(held)) delete held[name]
  Object.assign(held, members)
}

// The texts of a result, in order, and the result with others in their places.
function texts(value, found = []) {
  visit(value, (text) => (found.push(text), text))
  return found
}

function withTexts(value, changed) {
  let next = 0
  return visit(value, () => changed[next++])
}

// Members whose words, and nothing else, say what the rest is.
const STRUCTURE = ["type", "mimeType", "mime_type", "mediaType", "media_type"]
const WORD = /^[a-z/_.+-]{0,32}$/

function visit(value, text) {
  if (typeof value === "string") return text(value)
  if (Array.isArray(value)) return value.map((element) => visit(element, text))
  if (value === null || typeof value !== "object") return value
  const members = Object.keys(value).map((name) => {
    const isData = value.type === "image" && ["data", "base64", "source"].includes(name)
    const isStructure = typeof value[name] === "string" && STRUCTURE.includes(name) && WORD.test(value[name])
    return [name, isData || isStructure ? value[name] : visit(value[name], text)]
  })
  return Object.fromEntries(members)
}
