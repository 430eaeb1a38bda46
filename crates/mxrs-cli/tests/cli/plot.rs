//! Tests of `mxrs plot`.

use crate::mxrs::{digits, mxrs};

#[test]
fn parameters_are_hidden_unless_wanted() {
    let symbol = digits("lenet-symbol.json");
    let text = mxrs(["plot", &symbol]).ok();
    assert!(text.starts_with("digraph \"lenet\" {\n") && text.ends_with("}\n"), "{text}");
    for part in [
        "label=\"conv1\\nConvolution\\n5x5, 20\", fillcolor=\"#fb8072\"",
        "label=\"data\", fillcolor=\"#8dd3c7\", shape=oval",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("conv1_weight"), "{text}");
    let all = mxrs(["plot", &symbol, "--weights"]).ok();
    assert!(all.contains("label=\"conv1_weight\"") && all.contains("label=\"fc2_bias\""), "{all}");
    assert_eq!(mxrs(["plot", &symbol, "--show-weights"]).ok(), all);
    // Auxiliary states are hidden like parameters.
    assert!(!mxrs(["plot", &digits("resnet8-symbol.json")]).ok().contains("moving"));
}

#[test]
fn edges_show_shapes_when_they_are_known() {
    let symbol = digits("lenet-symbol.json");
    assert!(!mxrs(["plot", &symbol]).ok().contains("20x24x24"));
    let text = mxrs(["plot", &symbol, "--shape", "data=2,1,28,28", "--title", "a \"b\""]).ok();
    assert!(text.contains("[label=\"20x24x24\"]") && text.starts_with("digraph \"a \\\"b\\\"\""), "{text}");
}

#[test]
fn the_picture_is_laid_out_without_overlaps() {
    let dir = tempfile::tempdir().unwrap();
    let (svg, dot) = (dir.path().join("net.svg"), dir.path().join("net.dot"));
    let symbol = digits("resnet8-symbol.json");
    let shape = ["plot", &symbol, "--shape", "data=1,1,28,28"];
    let files = ["--svg".to_owned(), svg.display().to_string(), "--dot".into(), dot.display().to_string()];
    assert_eq!(mxrs(shape.map(str::to_owned).into_iter().chain(files)).ok(), "");
    let text = std::fs::read_to_string(&svg).unwrap();
    let dot = std::fs::read_to_string(&dot).unwrap();
    let document = roxmltree::Document::parse(&text).expect("well-formed XML");
    let boxes: Vec<[f64; 4]> = document
        .descendants()
        .filter(|e| e.attribute("class") == Some("n"))
        .map(|e| ["x", "y", "width", "height"].map(|name| e.attribute(name).and_then(|n| n.parse().ok()).expect(name)))
        .collect();
    let edges = document.descendants().filter(|e| e.has_tag_name("polyline")).count();
    assert_eq!((boxes.len(), edges), (dot.matches("fillcolor=").count(), dot.matches(" -> ").count()));
    assert!(boxes.len() > 20 && edges >= boxes.len() - 1);
    for (i, [x, y, w, h]) in boxes.iter().enumerate() {
        for [x2, y2, w2, h2] in &boxes[i + 1..] {
            let apart = x + w <= *x2 || x2 + w2 <= *x || y + h <= *y2 || y2 + h2 <= *y;
            assert!(apart, "{x} {y} {w} {h} and {x2} {y2} {w2} {h2}");
        }
    }
}

#[test]
fn mistakes_are_explained() {
    let err = mxrs(["plot", "lenett"]).failed(2);
    assert!(err.contains("the nearest is `lenet`"), "{err}");
    assert!(mxrs(["plot", "none.json"]).failed(3).contains("none.json"));
    let err = mxrs(["plot", "lenet", "--shape", "date=1,1,28,28"]).failed(2);
    assert!(err.contains("`date`"), "{err}");
    assert!(mxrs(["plot", "lenet", "--svg", "/none/x.svg"]).failed(1).contains("x.svg"));
}
