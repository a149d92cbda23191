// A SAML 2.0 identity provider (npm samlify) as a process for the tests: prints its address, ends with its input.
// People are made and changed by POST /people; who signs in is chosen in the form that it shows. POST /service takes
// the metadata of whom it signs people in at, POST /answers in what its answers differ from right ones from then on.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { IdentityProvider, SamlLib, ServiceProvider, setSchemaValidator } from "samlify";

const [keys] = process.argv.slice(2);
const BINDING = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-";
const people = new Map();
let service;
let differences = {};

setSchemaValidator({ validate: async () => "not looked at: the tests are about the other side" });

const body = async (request) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
};

/** The query, with the part of it that a signature is for. */
const signedQuery = (query) => ({
  query: Object.fromEntries(query),
  octetString: ["SAMLRequest", "RelayState", "SigAlg"]
    .filter((name) => query.has(name))
    .map((name) => `${name}=${encodeURIComponent(query.get(name))}`)
    .join("&"),
});

const attribute = ([name, values]) =>
  `<saml:Attribute Name="${name}">${[values]
    .flat()
    .map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`)
    .join("")}</saml:Attribute>`;

/** The answer as text before it is signed: samlify's own form of it, filled in and then changed as a test wants. */
const filled = (template, sub, inResponseTo) => {
  const { nameId = sub, ...attributes } = people.get(sub) ?? {};
  const { skew = 0, values = {}, replaced = [] } = differences;
  const at = (seconds) => new Date(Date.now() + (skew + seconds) * 1000).toISOString();
  const address = service.entityMeta.getAssertionConsumerService("post");
  const id = `_${randomUUID()}`;
  const statement = `<saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="of-${sub}"><saml:AuthnContext>
    <saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef>
    </saml:AuthnContext></saml:AuthnStatement>`;
  let context = SamlLib.replaceTagsByValue(template, {
    ID: id,
    AssertionID: `_${randomUUID()}`,
    Destination: address,
    SubjectRecipient: address,
    Audience: service.entityMeta.getEntityID(),
    Issuer: provider.entityMeta.getEntityID(),
    IssueInstant: at(0),
    ConditionsNotBefore: at(0),
    ConditionsNotOnOrAfter: at(300),
    SubjectConfirmationDataNotOnOrAfter: at(300),
    StatusCode: "urn:oasis:names:tc:SAML:2.0:status:Success",
    NameIDFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    NameID: "WHO",
    InResponseTo: inResponseTo,
    AuthnStatement: "HOW",
    AttributeStatement: "WHAT",
    ...values,
  });
  // What stands in place of these is XML, which samlify would escape.
  context = context.replace("WHO", nameId).replace("HOW", statement);
  const all = Object.entries(attributes).map(attribute).join("");
  context = context.replace("WHAT", all && `<saml:AttributeStatement>${all}</saml:AttributeStatement>`);
  if (!inResponseTo) context = context.replaceAll(' InResponseTo=""', "");
  if (differences.endless) context = context.replace(/(<saml:SubjectConfirmationData) NotOnOrAfter="[^"]+"/, "$1");
  for (const [from, to] of replaced) context = context.replaceAll(from, to);
  return { id, context };
};

const answered = async (sub, inResponseTo) => {
  const signer = differences.key === "other" ? made("other") : provider;
  const { context } = await signer.createLoginResponse(service, {}, "post", {}, (template) =>
    filled(template, sub, inResponseTo),
  );
  return `<title>Campus</title><form method="post" action="${service.entityMeta.getAssertionConsumerService("post")}">
    <input type="hidden" name="SAMLResponse" value="${context}"><input type="hidden" name="RelayState" value="">
    <button>Go on</button></form><script>document.forms[0].submit()</script>`;
};

const server = createServer();
let provider;
let made;
server.listen(0, "127.0.0.1", () => {
  const address = `http://127.0.0.1:${server.address().port}`;
  made = (key) =>
    IdentityProvider({
      entityID: `${address}/metadata`,
      wantAuthnRequestsSigned: Boolean(differences.wants_signed),
      isAssertionEncrypted: Boolean(differences.encrypts),
      signingCert: readFileSync(`${keys}/${key}.pem`),
      privateKey: readFileSync(`${keys}/${key}.key`),
      requestSignatureAlgorithm: differences.algorithm ?? "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
      nameIDFormat: ["urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"],
      singleSignOnService: [{ Binding: `${BINDING}Redirect`, Location: `${address}/sso` }],
      singleLogoutService: [{ Binding: `${BINDING}Redirect`, Location: `${address}/slo` }],
    });
  provider = made("campus");
  const routes = {
    "/people": async (request) => {
      const { sub, ...attributes } = JSON.parse(await body(request));
      people.set(sub, attributes);
    },
    "/service": async (request) => {
      // Signed is the assertion, the answer around it, or both, as a test says: by the metadata of the service.
      const { metadata, signed } = JSON.parse(await body(request));
      const isWanted = `WantAssertionsSigned="${signed !== "answer"}"`;
      service = ServiceProvider({
        metadata: metadata.replace(/WantAssertionsSigned="\w+"/, isWanted),
        wantMessageSigned: signed === "both",
        wantLogoutRequestSigned: true,
        wantLogoutResponseSigned: true,
      });
    },
    "/answers": async (request) => {
      differences = JSON.parse(await body(request));
      provider = made("campus");
    },
    "/sso": async (request, query) => {
      if (request.method === "POST")
        return answered(new URLSearchParams(await body(request)).get("login"), query.get("for"));
      const parsed = await provider.parseLoginRequest(service, "redirect", signedQuery(query));
      return `<title>Campus</title><form method="post" action="/sso?for=${parsed.extract.request.id}">
        <input name="login"><button>Sign in</button></form>`;
    },
    "/tile": async (_, query) => answered(query.get("login"), ""),
    "/slo": async (_, query) => {
      if (query.has("SAMLResponse")) return "<title>Campus</title><h1>Signed out everywhere</h1>";
      const parsed = await provider.parseLogoutRequest(service, "redirect", signedQuery(query));
      const { nameID } = parsed.extract;
      const { context } = provider.createLogoutResponse(service, parsed, "redirect", { relayState: nameID });
      return { location: context };
    },
    "/leave": async (_, query) => {
      const user = { logoutNameID: query.get("login"), sessionIndex: query.get("session") ?? undefined };
      return { location: made(query.get("key") ?? "campus").createLogoutRequest(service, "redirect", user).context };
    },
  };
  server.on("request", async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, address);
    try {
      const answer = await routes[pathname](request, searchParams);
      if (answer?.location) response.writeHead(302, { location: answer.location });
      else response.setHeader("content-type", "text/html");
      response.end(answer?.location ? "" : answer);
    } catch (error) {
      console.error(pathname, error);
      response.writeHead(500).end(String(error));
    }
  });
  console.log(address);
});
process.stdin.resume().on("end", () => process.exit());
